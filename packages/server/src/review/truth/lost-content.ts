import type { Finding } from "@emend/site";
import {
  headingsOf,
  textLinesOf as linesOf,
  listed,
  type PageLine,
  pageLines,
  plainText,
} from "../../lib/page-lines.ts";

interface PageChange {
  path: string;
  before: string;
  /** Null: the page is deleted. */
  after: string | null;
}

/** A page that loses more than this share of its lines loses content. */
const lostShareMax = 0.25;
const lostLinesMin = 5;
/** Text counts as kept if at least this share of its lines is somewhere in the change. */
const keptShare = 0.5;

/** Pages, sections and samples that a change takes away, although the request asks for no such thing. */
export function findLostContent(pages: readonly PageChange[], asked: readonly string[]): readonly Finding[] {
  const kept: Kept = {
    lines: new Set(pages.flatMap(({ after }) => linesOf(after ?? ""))),
    headings: new Set(pages.flatMap(({ after }) => headingsOf(pageLines(after ?? "")).map(({ name }) => name))),
  };
  const request = plainText(asked.join("\n"));
  return pages.flatMap((page) => {
    if (page.after === null) return isDeletedUnasked(page, kept.lines, request) ? [deletedPage(page)] : [];
    const message = lossOf(page, page.after, kept, request);
    if (message === null) return [];
    return [{ check: "lost-content", severity: "error", path: page.path, line: 1, column: 1, message } as const];
  });
}

function deletedPage({ path }: PageChange): Finding {
  const message = "this page was deleted, and the request does not name it";
  return { check: "deleted-page", severity: "error", path, line: 1, column: 1, message };
}

function isDeletedUnasked({ path, before }: PageChange, kept: ReadonlySet<string>, request: string): boolean {
  const isMoved = linesOf(before).length > 0 && isKept(linesOf(before), kept);
  return !isMoved && !isNamed(request, namesOf(path, before));
}

function lossOf({ path, before }: PageChange, after: string, kept: Kept, request: string): string | null {
  const [old, now] = [pageLines(before), pageLines(after)];
  const isPageNamed = isNamed(request, namesOf(path, before));
  // To take something away is asked for by a word for it, and by a name of what goes.
  const mayGo = (names: readonly string[]) => removing.test(request) && (isPageNamed || isNamed(request, names));
  const unasked = "and the request does not ask for it";

  const present = headingsOf(now).map(({ name }) => name);
  const gone = headingsOf(old).filter(({ name }) => !kept.headings.has(name));
  const newOnes = present.length - headingsOf(old).filter(({ name }) => present.includes(name)).length;
  // A heading that another one stands for now, above the same text, was renamed.
  const lost = gone.filter(({ body }, index) => index >= newOnes || !isKept(body, kept.lines));
  const sections = lost.filter(({ name }) => !mayGo([name]));
  if (sections.length > 0) return `the page loses ${listed(sections.map(({ shown }) => `“${shown}”`))}, ${unasked}`;

  const asked = new Set(lost.flatMap(({ body }) => body));
  const samples = samplesOf(old).filter((sample) => !isKept(sample, kept.lines) && !isKept(sample, asked));
  const lostSamples = Math.min(samples.length, samplesOf(old).length - samplesOf(now).length);
  if (lostSamples > 0 && !mayGo(["code", "sample", "samples", "example", "examples", "snippet"])) {
    return `the page loses ${lostSamples === 1 ? "a code block" : `${lostSamples} code blocks`}, ${unasked}`;
  }

  const had = linesOf(before);
  const known = new Set(had);
  const written = linesOf(after).filter((line) => !known.has(line)).length;
  const left = had.filter((line) => !kept.lines.has(line) && !asked.has(line)).length - written;
  if (left < Math.max(lostLinesMin, had.length * lostShareMax) || mayGo([])) return null;
  return `the page loses ${left} of its ${had.length} lines of text, ${unasked}`;
}

/** What is somewhere in the change, for comparisons. */
interface Kept {
  lines: ReadonlySet<string>;
  headings: ReadonlySet<string>;
}

const removing =
  /\b(?:remov|delet|drop|cut|trim|short|condens|strip|prun|reduc|rewrit|rework|simplif|merg|consolidat|combin|split|mov|replac|retir|deprecat|clean|restructur|reorgani|summari|dedup|redirect|extract)\w*/;

function samplesOf(lines: readonly PageLine[]): readonly (readonly string[])[] {
  const samples: string[][] = [];
  for (const [index, { kind, text }] of lines.entries()) {
    if (kind === "sample" && lines[index - 1]?.kind === "fence") samples.push([]);
    if (kind === "sample" && text.trim() !== "") samples.at(-1)?.push(plainText(text));
  }
  return samples.filter((sample) => sample.length > 0);
}

function isKept(lines: readonly string[], kept: ReadonlySet<string>): boolean {
  return lines.filter((line) => kept.has(line)).length >= lines.length * keptShare;
}

/** A page's path, its folders, its name and its titles. */
function namesOf(path: string, text: string): readonly string[] {
  const bare = path.replace(/\.\w+$/, "").replace(/\/(?:index|readme)$/i, "");
  const segments = bare.split("/");
  const folders = segments.slice(0, -1).map((_, index) => segments.slice(0, index + 1).join("/"));
  const title = /^title:[ \t]*(.+)$/m.exec(text)?.[1] ?? "";
  const heading = /^#[ \t]+(.+)$/m.exec(text)?.[1] ?? "";
  return [path, bare, segments.at(-1) ?? "", title, heading, ...folders.filter((one) => one.length > 3)].map(plainText);
}

function isNamed(request: string, names: readonly string[]): boolean {
  return names.some((name) => name !== "" && ` ${request} `.includes(` ${name} `));
}
