import { ownChecks } from "../checks/own-checks.ts";
import { isExternal } from "../links/target.ts";
import type { FrontMatter, Heading, Link, LinkKind, PageFacts } from "./facts.ts";

/** What a page's links mean to the graph; how they were written matters no further. */
type BriefKind = "link" | "image" | "src" | "include";

/** What linking a site needs of each page: small, so that it is held for every page at once. */
interface PageBrief {
  title: string | null;
  fields: FrontMatter["fields"];
  /** Ids of headings, then those that are written in the text. */
  ids: readonly string[];
  /** Targets inside the site, each once a kind. */
  links: readonly { kind: BriefKind; target: string }[];
  /** No check that looks at the page alone finds anything. */
  isSound: boolean;
  unread: boolean;
}

/** A page as it was read. The facts are decoded when they are asked for: of most pages nobody does. */
export interface PageRecord {
  brief: PageBrief;
  facts(): PageFacts;
}

const briefKinds: Record<LinkKind, BriefKind> = {
  link: "link",
  definition: "link",
  href: "link",
  image: "image",
  src: "src",
  include: "include",
};

function titleOf(facts: PageFacts): string | null {
  const title = facts.frontMatter?.fields.title;
  if (typeof title === "string" && title !== "") return title;
  return facts.headings.find((heading) => heading.level === 1)?.text ?? null;
}

/** A heading that a template makes has an id that only the build knows: this one stands for it. */
export const unknownId = "{{";

function idsOf(facts: PageFacts): string[] {
  const ids = [...facts.headings.map(({ id }) => id), ...facts.ids];
  const isMade = facts.headings.some(({ text, explicit }) => explicit !== true && /\{\{|\{%/.test(text));
  return isMade ? [...ids, unknownId] : ids;
}

function isSound(facts: PageFacts): boolean {
  for (const check of ownChecks) for (const _ of check.run(facts)) return false;
  return true;
}

function briefOf(facts: PageFacts): PageBrief {
  const links = new Map<string, { kind: BriefKind; target: string }>();
  for (const { kind, target } of facts.links) {
    if (isExternal(target)) continue;
    const brief = briefKinds[kind];
    const key = brief === "link" ? target : `${brief} ${target}`;
    if (!links.has(key)) links.set(key, { kind: brief, target });
  }
  return {
    title: titleOf(facts),
    fields: facts.frontMatter?.fields ?? {},
    ids: idsOf(facts),
    links: [...links.values()],
    isSound: isSound(facts),
    unread: facts.unread !== undefined,
  };
}

export function toRecord(facts: PageFacts): PageRecord {
  return { brief: briefOf(facts), facts: () => facts };
}

// Records cross threads and lie in caches by the ten thousand, so the facts say nothing twice that the brief says, and
// what is left of them is nearly all numbers in a row.
const kinds: readonly LinkKind[] = ["link", "definition", "image", "href", "src", "include"];
const codes = Object.fromEntries(kinds.map((kind, code) => [kind, code])) as Record<LinkKind, number>;
const briefCodes: readonly BriefKind[] = ["link", "image", "src", "include"];

type PackedBrief = [
  title: string | null,
  fields: FrontMatter["fields"],
  ids: readonly string[],
  targets: string[],
  /** One digit a target; "" where all are links. */
  kinds: string,
  flags: number,
];

interface PackedFacts {
  matter: FrontMatter | null;
  /** Targets beyond those of the brief. */
  targets: string[];
  /** Kind, number of the target, start, end, line, column, flags. */
  links: number[];
  texts: string[];
  /** Level, start, end, line, column, whether the id is written. */
  headings: number[];
  /** How many ids are written in the text. */
  ids: number;
  /** Line, column. */
  fences: number[];
  unread?: PageFacts["unread"];
}

/** The record of a page as one line of text: the brief, a tab, the facts. */
export function encodeRecord(facts: PageFacts): string {
  const brief = briefOf(facts);
  const targets = brief.links.map(({ target }) => target);
  const isPlain = brief.links.every(({ kind }) => kind === "link");
  const packed: PackedBrief = [
    brief.title,
    brief.fields,
    brief.ids,
    targets,
    isPlain ? "" : brief.links.map(({ kind }) => briefCodes.indexOf(kind)).join(""),
    Number(brief.isSound) + 2 * Number(brief.unread),
  ];
  return `${JSON.stringify(packed)}\t${JSON.stringify(packFacts(facts, targets))}`;
}

function packFacts(facts: PageFacts, known: readonly string[]): PackedFacts {
  const numbers = new Map(known.map((target, number) => [target, number]));
  const targets: string[] = [];
  const links: number[] = [];
  for (const { kind, target, start, end, line, column, noAlt, here } of facts.links) {
    let number = numbers.get(target);
    if (number === undefined) {
      number = known.length + targets.push(target) - 1;
      numbers.set(target, number);
    }
    links.push(codes[kind], number, start, end, line, column, (noAlt === true ? 1 : 0) + (here === true ? 2 : 0));
  }
  const headings: number[] = [];
  for (const { level, start, end, line, column, explicit } of facts.headings) {
    headings.push(level, start, end, line, column, explicit === true ? 1 : 0);
  }
  return {
    matter: facts.frontMatter,
    targets,
    links,
    texts: facts.headings.map(({ text }) => text),
    headings,
    ids: facts.ids.length,
    fences: facts.bareFences.flatMap(({ line, column }) => [line, column]),
    ...(facts.unread === undefined ? {} : { unread: facts.unread }),
  };
}

export function decodeRecord(record: string): PageRecord {
  const tab = record.indexOf("\t");
  const [title, fields, ids, targets, digits, flags] = JSON.parse(record.slice(0, tab)) as PackedBrief;
  const links = targets.map((target, i) => ({
    kind: digits === "" ? "link" : (briefCodes[digits.charCodeAt(i) - 48] as BriefKind),
    target,
  }));
  return {
    brief: { title, fields, ids, links, isSound: (flags & 1) !== 0, unread: (flags & 2) !== 0 },
    facts: () => unpackFacts(JSON.parse(record.slice(tab + 1)) as PackedFacts, ids, targets),
  };
}

function unpackFacts(packed: PackedFacts, ids: readonly string[], known: readonly string[]): PageFacts {
  const targets = [...known, ...packed.targets];
  const count = packed.texts.length;
  return {
    frontMatter: packed.matter,
    headings: packed.texts.map((text, i) => unpackHeading(packed.headings, i * 6, text, ids[i] as string)),
    links: Array.from({ length: packed.links.length / 7 }, (_, i) => unpackLink(packed.links, i * 7, targets)),
    ids: ids.slice(count, count + packed.ids),
    bareFences: Array.from({ length: packed.fences.length / 2 }, (_, i) => ({
      line: packed.fences[i * 2] as number,
      column: packed.fences[i * 2 + 1] as number,
    })),
    ...(packed.unread === undefined ? {} : { unread: packed.unread }),
  };
}

function unpackHeading(numbers: readonly number[], at: number, text: string, id: string): Heading {
  const [level = 0, start = 0, end = 0, line = 0, column = 0, explicit] = numbers.slice(at, at + 6);
  const heading: Heading = { level, text, id, start, end, line, column };
  if (explicit === 1) heading.explicit = true;
  return heading;
}

function unpackLink(numbers: readonly number[], at: number, targets: readonly string[]): Link {
  const [code = 0, target = 0, start = 0, end = 0, line = 0, column = 0, flags = 0] = numbers.slice(at, at + 7);
  const link: Link = {
    kind: kinds[code] as LinkKind,
    target: targets[target] as string,
    start,
    end,
    line,
    column,
  };
  if ((flags & 1) !== 0) link.noAlt = true;
  if ((flags & 2) !== 0) link.here = true;
  return link;
}
