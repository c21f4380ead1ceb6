import type { PageBlock } from "../drift/page-blocks.ts";
import type { Fact, FactPart } from "./fact.ts";
import { escaped, hasWord, isTelling, linesUnder, type NamedBlock, namesIn, titles } from "./named-blocks.ts";
import { repeatedText } from "./repeated-text.ts";
import { misfits } from "./sample-calls.ts";

/** A file's facts before and after a change. */
export interface ChangedFacts {
  path: string;
  before: readonly Fact[];
  after: readonly Fact[];
  texts: { was: string; now: string };
}

/** Something on a page that a change of a fact makes wrong or incomplete. */
export interface StaleFact {
  kind: "changed" | "removed" | "new";
  path: string;
  /** The defining line: before the change; of what is new, after it. */
  line: number;
  name: string;
  part?: FactPart;
  was?: string;
  now?: string;
  /** The page shows the old value without the name: it may be another thing's. */
  isUnnamed?: true;
  /** The lines of code before and after. */
  code: { was: string; now: string | null };
  block: PageBlock;
  /** The line on the page. */
  pageLine: number;
}

const siblingsMin = 3;

/** Compares what pages say with facts that changed. Only what a page shows beside the fact's name, or a list of its siblings, counts. */
export function compareFacts(changes: readonly ChangedFacts[], blocks: readonly PageBlock[]): StaleFact[] {
  const pages = blocks.map((block) => ({ block, names: namesIn(block) }));
  const named = new Set(pages.flatMap(({ names }) => [...names.keys()]));
  const stale: StaleFact[] = [];
  // What moved to another file of the change is neither gone nor new.
  const known = new Set(changes.flatMap(({ before }) => before.map(({ name }) => name)));
  const left = new Set(changes.flatMap(({ after }) => after.map(({ name }) => name)));
  const values = new Set(changes.flatMap(({ after }) => after.map((fact) => fact.default)));
  for (const { path, before, after } of changes) {
    const old = byName(before);
    const now = byName(after);
    for (const [key, fact] of old) {
      const same = now.get(key);
      if (same === undefined || isSame(fact, same)) continue;
      const about = isTelling(fact.name) ? pages : aboutSiblings(before, fact, pages);
      stale.push(...changed(path, fact, same, about));
      if (!values.has(fact.default)) stale.push(...shownAlone(path, fact, same, blocks));
    }
    for (const [key, fact] of now) {
      if (old.has(key) || known.has(fact.name) || !isTelling(fact.name) || named.has(fact.name)) continue;
      const siblings = before.filter((one) => one.container === fact.container && now.has(keyOf(one)));
      const place = listOf(siblings, pages);
      if (place !== null)
        stale.push({ kind: "new", ...placeOf(path, fact), code: { was: "", now: fact.text }, ...place });
    }
    for (const [key, fact] of old) {
      if (now.has(key) || left.has(fact.name) || !isTelling(fact.name) || !named.has(fact.name)) continue;
      const siblings = before.filter((one) => one.container === fact.container && one.name !== fact.name);
      const place = listOf(siblings, pages, fact.name);
      if (place !== null)
        stale.push({ kind: "removed", ...placeOf(path, fact), code: { was: fact.text, now: null }, ...place });
    }
  }
  const texts = changes.map(({ path, texts }) => ({ path, ...texts }));
  for (const { path, line, words, code, block, pageLine } of repeatedText(texts, blocks)) {
    const place = { path, line, name: words, code: { was: code, now: null }, block, pageLine };
    stale.push({ kind: "changed", part: "text", was: words, isUnnamed: true, ...place });
  }
  const placeKey = ({ block, pageLine }: StaleFact) => `${block.path} ${pageLine}`;
  const toldByName = new Set(stale.flatMap((one) => (one.isUnnamed ? [] : placeKey(one))));
  const told = stale.filter((one) => !one.isUnnamed || !toldByName.has(placeKey(one)));
  const whatOf = ({ kind, part, name, isUnnamed }: StaleFact) => (isUnnamed ? "" : `${kind} ${part} ${name}`);
  // What is new in several files, such as a type and a sample of settings, is told once for a page.
  const whereOf = (one: StaleFact) => (one.kind === "new" ? one.block.path : placeKey(one));
  return [...new Map(told.map((one) => [`${whatOf(one)} ${whereOf(one)}`, one])).values()];
}

/** A version, an address or a path with several parts: nothing else is written like it. */
function isDistinctive(value: string): boolean {
  return (
    /^v?\d+\.\d+\.\d+(?:-[\w.]+|\.?(?:a|b|rc|dev|post)\d+)?$/.test(value) ||
    /^https?:\/\/[^\s/]+\.[^\s/]+/.test(value) ||
    (value.length >= 10 && /^[^\s/]*(?:\/[^\s/]+){2,}\/?$/.test(value))
  );
}

/** These tell of a release, not of the newest one. */
const ofPast =
  /\b(?:since|starting|introduced|added in|until|before|prior|later|newer|above|older|deprecated|removed|changed in)\b|[><]=|\d\+/i;

/** Where code on pages shows a value that the code no longer has, without the name that it belongs to. */
function shownAlone(path: string, was: Fact, now: Fact, blocks: readonly PageBlock[]): StaleFact[] {
  const [old = "", next] = [was.default, now.default];
  // The version of a dependency is not the program's.
  if (next === undefined || old === next || !isDistinctive(old) || /dependenc/i.test(was.container)) return [];
  const before = "-(?:rc|alpha|beta|pre|dev)";
  const isAddress = old.startsWith("http");
  const bare = old.replace(isAddress ? /\/$/ : /^v(?=\d)/, "");
  if (isAddress && next.startsWith(bare)) return [];
  // What is below an address moved with it.
  const shown = isAddress
    ? new RegExp(`${escaped(bare)}(?![\\w-]|\\.\\w)`)
    : new RegExp(`(?<![\\d.]|\\w[-_])v?${escaped(bare)}(?![\\w/]|[.-]\\d|${before})`);
  const asAddress = new RegExp(`[/:@=-]v?${escaped(bare)}(?!\\w|[.-]\\d|${before})`);
  return blocks.flatMap((block) => {
    if (!block.text.includes(bare)) return [];
    const isSample = block.inSample ?? /^\s*(?:`{3,}|~{3,})/m.test(block.text);
    const at = block.text.split("\n").findIndex((line) => {
      const code = isSample ? line : [...line.matchAll(/`[^`]+`|https?:\S+/g)].join(" ");
      return (shown.test(code) || asAddress.test(code)) && !ofPast.test(line) && !line.includes(next);
    });
    if (at === -1) return [];
    const code = { was: was.text, now: now.text };
    const common = { kind: "changed" as const, ...placeOf(path, was), part: "default" as const, was: old, now: next };
    return [{ ...common, isUnnamed: true as const, code, block, pageLine: block.line + at }];
  });
}

/** The blocks of pages that name enough else of the same container: a plain word may mean anything elsewhere. */
function aboutSiblings(facts: readonly Fact[], { container, name }: Fact, pages: readonly NamedBlock[]): NamedBlock[] {
  const siblings = new Set(facts.flatMap((one) => (one.container === container && one.name !== name ? one.name : [])));
  return [...Map.groupBy(pages, ({ block }) => block.path).values()].flatMap((group) => {
    const named = new Set(group.flatMap(({ names }) => [...names.keys()].filter((one) => siblings.has(one))));
    return named.size >= siblingsMin ? group : [];
  });
}

function isSame(was: Fact, now: Fact): boolean {
  const of = ({ container: _, name: _name, line: _line, text: _text, ...parts }: Fact) =>
    JSON.stringify(Object.entries(parts).sort());
  return of(was) === of(now);
}

const placeOf = (path: string, { line, name }: Fact) => ({ path, line, name });
const keyOf = ({ container, name }: Fact) => `${container} ${name}`;

/** A name that stands for two things of a container says nothing. */
function byName(facts: readonly Fact[]): Map<string, Fact> {
  const found = new Map<string, Fact>();
  const twice = new Set<string>();
  for (const fact of facts) {
    const key = keyOf(fact);
    if (found.has(key)) twice.add(key);
    found.set(key, fact);
  }
  for (const key of twice) found.delete(key);
  return found;
}

function changed(path: string, was: Fact, now: Fact, pages: readonly NamedBlock[]): StaleFact[] {
  const common = { kind: "changed" as const, ...placeOf(path, was), code: { was: was.text, now: now.text } };
  const stale: StaleFact[] = [];
  if (was.default !== undefined && now.default !== undefined && was.default !== now.default) {
    for (const { block, names } of pages) {
      const lines = titles(block, was.name)
        ? [...block.text.split("\n").keys()]
        : [...(names.get(was.name) ?? []), ...linesUnder(block, was.name)];
      const at = lines.find((line) => saysDefault(block, line, was, now));
      if (at !== undefined)
        stale.push({
          ...common,
          part: "default",
          was: was.default,
          now: now.default,
          block,
          pageLine: block.line + at,
        });
    }
  }
  for (const [part, old, next] of wordsThatChanged(was, now)) {
    for (const { block, names } of pages) {
      const lines = block.text.split("\n");
      const at = names
        .get(was.name)
        ?.find((line) => hasWord(lines[line] ?? "", old) && !hasWord(lines[line] ?? "", next));
      if (at !== undefined) stale.push({ ...common, part, was: old, now: next, block, pageLine: block.line + at });
    }
  }
  stale.push(...misfits(was, now, pages).map((place) => ({ ...common, part: "signature" as const, ...place })));
  if (!was.deprecated && now.deprecated) {
    for (const [, group] of Map.groupBy(pages, ({ block }) => block.path)) {
      const first = group.find(({ names }) => names.has(was.name));
      const isSaid = group.some(
        ({ block, names }) => names.has(was.name) && /deprecat|obsolete|legacy/i.test(block.text),
      );
      if (first === undefined || isSaid) continue;
      const pageLine = first.block.line + (first.names.get(was.name)?.[0] ?? 0);
      stale.push({ ...common, part: "deprecated", block: first.block, pageLine });
    }
  }
  const gone = (was.choices ?? []).filter((choice) => now.choices !== undefined && !now.choices.includes(choice));
  const added = (now.choices ?? []).filter((choice) => was.choices !== undefined && !was.choices.includes(choice));
  if (gone.length + added.length === 0) return stale;
  const kept = (was.choices ?? []).filter((choice) => !gone.includes(choice));
  for (const { block, names } of pages) {
    const listed = kept.filter((choice) => names.has(choice) || (names.has(was.name) && hasWord(block.text, choice)));
    const isAbout = names.has(was.name) || titles(block, was.name);
    if (!isAbout || listed.length < Math.min(2, kept.length)) continue;
    const shown = gone.find((choice) => hasWord(block.text, choice));
    const missing = added.find((choice) => !hasWord(block.text, choice));
    const part = { part: "choices" as const, block, pageLine: names.get(was.name)?.[0] ?? 0 };
    const pageLine = block.line + part.pageLine;
    if (shown !== undefined) stale.push({ ...common, ...part, pageLine, was: shown });
    else if (missing !== undefined && listed.length === kept.length && kept.length > 1)
      stale.push({ ...common, ...part, pageLine, now: missing });
  }
  return stale;
}

/** Types, and the words for whether something is required, as pages write them. */
function wordsThatChanged(was: Fact, now: Fact): readonly (readonly [FactPart, was: string, now: string])[] {
  const changed = (part: "type" | "since") => {
    const [old, next] = [was[part], now[part]];
    return old && next && old !== next ? [[part, old, next] as const] : [];
  };
  const word = (isRequired: boolean) => (isRequired ? "required" : "optional");
  const both = was.required !== undefined && now.required !== undefined && was.required !== now.required;
  return [
    ...changed("type"),
    ...changed("since"),
    ...(both ? [["required", word(was.required === true), word(now.required === true)] as const] : []),
  ];
}

/** Whether a line has the old value, and not the new one. A value that every page has needs the word "default" beside it. */
function saysDefault(
  block: PageBlock,
  at: number,
  { name, default: was = "" }: Fact,
  { default: now = "" }: Fact,
): boolean {
  const lines = block.text.split("\n");
  const line = lines[at] ?? "";
  if (!hasWord(line, was) || hasWord(line, now)) return false;
  const isCommon = was.length < 4 || /^(?:true|false|none|null|\d+)$/i.test(was) || !isTelling(name);
  // A sentence may be wrapped: `The default` / `is 3.`
  const isSaid = /default/i.test(line) || /\bdefault[^.|]*$/i.test(lines[at - 1] ?? "");
  const isTable = /^\s*\|/.test(line) && /default/i.test(lines.find((one) => /^\s*\|/.test(one)) ?? "");
  return !isCommon || isSaid || isTable || isSet(line, name, was);
}

/** `name: value` or `name = value` in a sample. */
function isSet(line: string, name: string, value: string): boolean {
  return isTelling(name) && new RegExp(`${escaped(name)}["']?\\s*[:=]\\s*["']?${escaped(value)}\\b`).test(line);
}

/** The place of the last sibling on the page that has most of them together. With `name`: where that page names it. */
function listOf(
  siblings: readonly Fact[],
  pages: readonly NamedBlock[],
  name?: string,
): Pick<StaleFact, "block" | "pageLine"> | null {
  const wanted = new Set(siblings.map((one) => one.name).filter(isTelling));
  if (wanted.size < siblingsMin) return null;
  let best: { count: number; block: PageBlock; pageLine: number } | null = null;
  for (const [path, group] of Map.groupBy(pages, ({ block }) => block.path)) {
    const found = new Set<string>();
    let place: { block: PageBlock; pageLine: number } | null = null;
    for (const { block, names } of group) {
      for (const one of names.keys()) {
        if (!wanted.has(one)) continue;
        found.add(one);
        if (name === undefined) place = { block, pageLine: block.line + (names.get(one)?.[0] ?? 0) };
      }
      const at = name === undefined ? undefined : names.get(name)?.[0];
      if (at !== undefined) place ??= { block, pageLine: block.line + at };
    }
    const isMost = found.size >= siblingsMin && found.size * 2 >= wanted.size && found.size > (best?.count ?? 0);
    if (path !== "" && place !== null && isMost) best = { count: found.size, ...place };
  }
  return best && { block: best.block, pageLine: best.pageLine };
}
