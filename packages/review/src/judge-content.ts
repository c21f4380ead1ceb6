import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { domainToUnicode } from "node:url";
import { type Finding, matchesGlob } from "@emend/site";
import type { OverlayEntry, Tree } from "@emend/tree";
import type { AddedLine } from "./added-lines.ts";
import { problemOfAsset } from "./check-asset.ts";
import type { Construct } from "./construct.ts";
import { createCopyFinder } from "./copied-text.ts";
import { forbidden } from "./forbidden.ts";
import { hostsIn } from "./hosts/hosts-in.ts";
import type { PageReader } from "./page-reader.ts";
import type { Part } from "./parts.ts";
import { isAllowed, kindOf, otherFile } from "./policy.ts";
import { withLineFeeds } from "./read-page.ts";
import type { Policy, Violation } from "./review.ts";
import { folderOf, openSyntaxes } from "./site-syntax.ts";

/** Each host is searched for in the whole repository. Nobody reviews more than this. */
const hostsMax = 500;
/** Enough to explain a refusal. */
const violationsMax = 20;
/** The number of pages to read in search of one that links to the same host or has the same construct. */
const pagesMax = 60;
const textMax = 500;

interface Judging {
  base: Tree;
  reader: PageReader;
  policy: Policy;
  asked: readonly string[];
  /** Text that the agent read from context repositories. */
  contextText?: readonly string[];
}
type File = Pick<OverlayEntry, "path"> & { text: string | null; content?: Buffer | null };

export interface ContentVerdict {
  /** Forbidden: refused at once. */
  violations: Violation[];
  /** Unknown: a person decides. */
  constructs: Construct[];
  findings: Finding[];
}

/**
 * Sorts what a change adds into content, which is published; unknown, which a person decides about; and forbidden, which is
 * refused. What the changed or deleted pages held before, other pages of the site have, or a person allowed, is content.
 */
export async function judgeContent(
  { base, reader, policy, asked, contextText = [] }: Judging,
  files: readonly File[],
  words: readonly AddedLine[],
  signal: AbortSignal,
): Promise<ContentVerdict> {
  const [violations, constructs, findings]: [Violation[], Construct[], Finding[]] = [[], [], []];
  const verdict = { violations, constructs, findings };
  const deadline = performance.now() + 600_000;
  const site = await openSyntaxes(base);
  const askedHosts = new Set(asked.flatMap((text) => [...hostsIn(text)]));
  const allowedHosts = (policy.externalHosts ?? []).map((pattern) => pattern.toLowerCase());
  const remembered = policy.allowedConstructs ?? [];
  const answers = new Map<string, Promise<boolean>>();
  const newHosts = new Set<string>();
  const isCopy = createCopyFinder(contextText);

  async function partsOf(path: string, text: string | null): Promise<readonly Part[] | null> {
    const syntax = site.syntaxOf(path);
    return text === null || syntax === null ? [] : reader.read(text, syntax);
  }
  const before = async (path: string) => (await base.read(path))?.toString() ?? null;

  /** The parts of the base's pages that contain `text`. */
  async function* partsWith(text: string): AsyncGenerator<Part> {
    const accepts = (path: string) => kindOf(path) === "document" || site.syntaxOf(path) !== null;
    const query = { pattern: text, kind: "literal" as const, ignoreCase: true, matchesMax: 1_000, accepts };
    const { matches } = await base.search(query, signal);
    for (const path of [...new Set(matches.map((match) => match.path))].slice(0, pagesMax))
      yield* (await partsOf(path, await before(path))) ?? [];
  }

  function once(id: string, answer: () => Promise<boolean>): Promise<boolean> {
    const known = answers.get(id) ?? answer();
    answers.set(id, known);
    return known;
  }

  /** Hosts below and above a known one may be anybody's: many platforms give each customer one. */
  function isKnownHost(host: string): Promise<boolean> | true {
    if (askedHosts.has(host) || allowedHosts.some((one) => matchesGlob(one, host))) return true;
    if (remembered.includes(`domain ${host}`)) return true;
    const bare = withoutWww(host);
    return once(`host ${bare}`, async () => {
      // Many pages may name a longer host that ends like this one.
      for (const spelling of new Set([`//${bare}`, `//www.${bare}`, bare, domainToUnicode(bare) || bare]))
        for await (const { kind, isUnused, hosts = [] } of partsWith(spelling))
          if (kind === "address" && !isUnused && hosts.some((one) => withoutWww(one) === bare)) return true;
      return false;
    });
  }

  /** Whether a person allowed it, or a page of the base has it: by its name and its attributes' names, or by its whole text. */
  function isKnown(part: Part, own: readonly Part[]): Promise<boolean> | boolean {
    const { kind, key, text, find } = part;
    const isImport = key?.startsWith("import ") === true;
    // Nothing makes an element that runs known. Code of MDX and front matter stays where the site's owner put it.
    if (part.instead && kind !== "expression" && !(kind === "attribute" && !/^[<{]/.test(text))) return false;
    const named = part.instead && !isImport ? null : key;
    if (named !== null && !part.instead && remembered.some((one) => covers(named, [one]))) return true;
    if (find.length < 2) return false;
    return once(`${kind} ${key} ${text}`, async () => {
      const keys = new Set<string>();
      const isSame = (one: Part) => {
        if (one.kind === kind && one.key !== null && (isImport || !one.instead)) keys.add(one.key);
        return named !== null && covers(named, keys);
      };
      if (own.some(isSame)) return true;
      for await (const one of partsWith(find)) if (isSame(one) || (one.kind === kind && one.text === text)) return true;
      return false;
    });
  }

  const ask = (
    path: string,
    line: number,
    part: Pick<Part, "text" | "reason"> & { kind?: string; key?: string | null },
  ) => {
    const { text, reason, kind = "other", key = null } = part;
    if (key !== null && constructs.some((one) => one.key === key && one.path === path)) return;
    constructs.push({ path, line, text: text.slice(0, textMax), kind: kind as Construct["kind"], reason, key });
  };
  const refuse = (path: string, rule: string) =>
    void (violations.some((one) => one.path === path && one.rule === rule) || violations.push({ path, rule }));

  async function judgeFile(
    { path, text, content }: File,
    gone: readonly Part[],
    goneDrawings: ReadonlySet<string | null>,
  ) {
    const kind = kindOf(path);
    const old = await before(path);
    const twin = old === null && text !== null ? await site.twinOf(path) : null;
    if (twin !== null) refuse(path, `the name differs from ${twin} only by case or look-alike letters`);
    if (isAllowed(policy, path) || (kind === "navigation" && text === null)) return;
    const whole = (reason: string) => ask(path, 1, { text: text ?? "", reason });
    if (kind === "other") return refuse(path, otherFile);
    if (/\.svg$/i.test(path)) {
      if (text !== null && text !== old && !goneDrawings.has(text)) whole("An SVG file can hold scripts.");
    } else if (kind === "asset" && content) {
      const problem = problemOfAsset(path, content);
      if (problem !== null) whole(problem);
    }
    const parts = await partsOf(path, text);
    if (parts === null) return whole("This page is too large to read in time.");
    if (text !== null && text !== old && (await site.isIncluded(path, signal)))
      whole("Pages in another language include this file, and read it as their own.");
    const oldParts = (await partsOf(path, old)) ?? [];
    judgeRest(path, parts, oldParts, old === null);
    const held = new Set([...oldParts, ...gone].map(idOf));
    const heldHosts = new Set(
      [...oldParts, ...gone].flatMap((part) => (part.kind === "address" ? (part.hosts ?? []) : [])),
    );
    const added = parts.filter((part) => part.kind !== "rest" && !held.has(idOf(part)));
    for (const host of added.flatMap(({ hosts = [] }) => hosts)) if (!heldHosts.has(host)) newHosts.add(host);
    if (newHosts.size > hostsMax) return;
    const shown = /^(?:configuration|navigation)$/.test(kind) ? (text ?? "") : withLineFeeds(text ?? "");
    const lineOf = lineFinder(shown, withLineFeeds(old ?? ""));
    const oldLines = new Set(withLineFeeds(old ?? "").split("\n"));
    const hidden: Part[] = [];
    for (const part of added) {
      const line = () => lineOf(part.at, part.end);
      if (part.kind === "invisible characters") hidden.push(part);
      else if (part.kind === "sample") {
        for (const host of part.hosts ?? []) {
          if (heldHosts.has(host) || (await isKnownHost(host))) continue;
          const message = `the first code sample that names ${host}, which neither the repository's pages nor the request name`;
          findings.push({ check: "new-domain", severity: "error", path, line: line(), column: 1, message });
        }
      } else if (part.kind === "address") {
        if (part.isInclude && !isInDocs(part.url ?? "", path, policy.docsDir))
          refuse(path, `line ${line()} includes a file from outside of the docs folder. ${forbidden.outside}`);
        else if (part.url !== undefined && leavesFolder(part.url, path, part.loads === true)) {
          if (part.loads && /\.\./.test(part.text))
            refuse(path, `line ${line()} has an address outside of the repository. ${forbidden.outside}`);
          else ask(path, line(), { text: part.text, reason: "This address leads out of the repository." });
        }
        for (const host of part.hosts ?? []) {
          if (!heldHosts.has(host) && !(await isKnownHost(host))) ask(path, line(), newDomain(host, part.text));
        }
        const urls = part.url === undefined ? (part.text.match(/https?:[^\s)>\]"'`]+/gi) ?? []) : [part.url];
        if (urls.some(isCopy))
          refuse(path, `line ${line()} has an address that contains text from a context repository`);
      } else if (part.isCover) {
        if (old === null || !part.text.split("\n").some((one) => one.trim().length > 3 && oldLines.has(one))) continue;
        ask(path, line(), { text: part.text, reason: part.reason });
      } else if (kind === "document" && (await isKnown(part, oldParts))) continue;
      else if (part.instead) refuse(path, `line ${line()} has ${shownOf(part)}: ${part.reason} ${part.instead}`);
      else ask(path, line(), part);
      if (violations.length >= violationsMax) return;
    }
    const [first] = hidden;
    if (first) {
      const reason = hidden.length === 1 ? first.reason : `${first.reason} There are ${hidden.length} places.`;
      ask(path, lineOf(first.at, first.end), { ...first, reason });
    }
  }

  /** What a configuration has besides navigation. Data is shown to a person, code is not changed. */
  function judgeRest(path: string, parts: readonly Part[], oldParts: readonly Part[], isNew: boolean): void {
    const rest = parts.find((part) => part.kind === "rest")?.text;
    const old = oldParts.find((part) => part.kind === "rest")?.text;
    if (rest === undefined || rest === old) return;
    if (isNew && /^(?:(?:export default|module\.exports =);?)?$/.test(rest.trim())) return;
    const oldLines = new Set(old?.split("\n"));
    const changed = rest
      .split("\n")
      .filter((line) => !oldLines.has(line))
      .join("\n");
    // Lines of literals, keys and brackets are data in a program, too.
    const bare = changed.replaceAll(/"[^"\\\n]*"|'[^'\\\n]*'/g, "").replaceAll(/\w+\s*:|\b(?:true|false|null)\b/g, "");
    const isRunning =
      /!!|!ENV|javascript:|\b(?:hooks|components?|props|html|on(?:[A-Z]\w*|click|load|error|focus|mouse\w*))"?\s*:/.test(
        changed,
      );
    const isLiteral =
      /\.(?:json|ya?ml|toml|pages)$/i.test(path) || (!/<\w/.test(changed) && /^[\s\d,[\]{}.]*$/.test(bare));
    const reason = "This changes more than navigation and redirects.";
    if (isLiteral && !isRunning) ask(path, 1, { text: changed || rest, reason });
    else refuse(path, `${reason} ${forbidden.configuration}`);
  }

  const gone: Part[] = [];
  const goneDrawings = new Set<string | null>();
  for (const { path } of files.filter((file) => file.text === null)) {
    const text = await before(path);
    if (/\.svg$/i.test(path)) goneDrawings.add(text);
    if (kindOf(path) === "document") gone.push(...((await partsOf(path, text)) ?? []));
  }
  for (const file of files) {
    // Each search takes a while, so yield to the other jobs of this process.
    await setImmediate();
    signal.throwIfAborted();
    await judgeFile(file, gone, goneDrawings);
    if (performance.now() > deadline || newHosts.size > hostsMax) {
      const rule = newHosts.size > hostsMax ? `links to more than ${hostsMax} new domains` : "takes too long to check";
      return { violations: [{ path: "", rule: `the change ${rule}` }], constructs: [], findings: [] };
    }
    if (violations.length >= violationsMax) return verdict;
  }
  for (const { path, line, text } of words)
    for (const host of hostsIn(text)) {
      if (constructs.some(({ key }) => key === `domain ${host}`) || (await isKnownHost(host))) continue;
      ask(path, line, newDomain(host, text));
    }
  return verdict;
}

const newDomain = (host: string, text: string) => ({
  text,
  kind: "domain",
  reason: `No page of this site links to ${host}, and the request does not name it.`,
  key: `domain ${host}`,
});

function withoutWww(host: string): string {
  return host.replace(/^www\./, "");
}

function idOf({ kind, text, key, loads, instead }: Part): string {
  return `${kind} ${key} ${loads} ${instead !== undefined} ${text}`;
}

/** `element img[alt,src]` is known where the same element is, with at least these attributes together. */
export function covers(key: string, known: Iterable<string>): boolean {
  const [, name, names = ""] = /^(.*?)(?:\[(.*)\])?$/.exec(key) ?? [];
  const found = new Set<string>();
  for (const one of known) {
    if (one === key) return true;
    const [, other, others = ""] = /^(.*?)(?:\[(.*)\])?$/.exec(one) ?? [];
    if (other === name && key.endsWith("]")) for (const attribute of others.split(",")) found.add(attribute);
  }
  return found.size > 0 && names.split(",").every((attribute) => attribute === "" || found.has(attribute));
}

function shownOf({ text }: Part): string {
  return JSON.stringify(text.split("\n", 1)[0]?.slice(0, 100));
}

/** Finds the first changed line that a part is on. */
function lineFinder(text: string, old: string): (at: number, end: number) => number {
  const oldLines = new Set(old.split("\n"));
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const indexOf = (at: number) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  return (at, end) => {
    const [first, last] = [indexOf(at), indexOf(Math.max(at, end - 1))];
    for (let index = first; index <= last; index += 1)
      if (!oldLines.has(text.slice(starts[index], (starts[index + 1] ?? text.length + 1) - 1))) return index + 1;
    return first + 1;
  };
}

/** Builders look for an included file next to the page, in the docs folder and in the repository's root. */
function isInDocs(target: string, path: string, docsDir: string): boolean {
  const docs = docsDir.replace(/\/*$/, "/").replace(/^\/$/, "");
  return [folderOf(path), docs, ""].some((from) => posix.join(from, target.replace(/^\//, "")).startsWith(docs));
}

/** Whether a relative address leads out of the repository, or to a folder that is no part of a site. */
function leavesFolder(url: string, path: string, loads: boolean): boolean {
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|^#/i.test(url)) return false;
  return [url, decodeSafely(url)].some((one) => {
    if (posix.join(folderOf(path), one.replace(/[?#]/g, "")).startsWith("..") && !/^[@~]?\w*\//.test(one)) return true;
    const bare = one.replace(/[?#].*$/, "").replace(/^[@~]\w*(?=\/)/, "");
    const isHidden =
      /(?:^|\/)\.(?!gitbook\/assets\/|\.?\/|\.?$)[\w-]/.test(bare) && (loads || !/(?:^|\/)\.github\//.test(bare));
    const isAbove =
      /^[@~]?\w*\//.test(bare) && bare.startsWith("/")
        ? /^\/(?:.*\/)?\.\.(?:\/|$)/.test(bare) && posix.normalize(`.${bare}`).startsWith("..")
        : posix.join(folderOf(path), bare).startsWith("..");
    return isHidden || isAbove;
  });
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
