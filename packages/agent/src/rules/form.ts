import type { Frame, Thing } from "./frame.ts";
import type { Instruction } from "./instruction.ts";

/** What a clause means, or why it is not clear. */
export type Reading =
  | { kind: "orders"; instructions: readonly Instruction[] }
  /** "delete X": a redirect is required too, by "redirect it to Y" or a separate instruction. */
  | { kind: "delete"; pages: readonly string[] }
  | { kind: "redirect_it"; to: string }
  /** "and update the links to it": part of every move, and meaningless without one. */
  | { kind: "with_links" }
  /** "check for broken links" and "find X", which need "and fix them" or "and replace it with Y". */
  | { kind: "look"; instructions: readonly Instruction[] }
  | { kind: "fix_them"; to?: string }
  /** "leave code alone": what the instruction does anyway. */
  | { kind: "keeps"; what: string }
  /** "it should say …": the text of the page that was just added. */
  | { kind: "text"; content: string }
  /** "we don't need X any more": what "it" means next. */
  | { kind: "about"; page: string }
  /** A greeting, or "do the following:". */
  | { kind: "nothing" }
  | { kind: "unclear"; reason: string };

/** The things of a clause, by what they are for. */
export type Picked = ReadonlyMap<string, readonly Thing[]>;

interface Slot {
  roles: readonly string[];
  fits(thing: Thing): boolean;
  least: number;
  most: number;
}

/** One way to say it: its canonical words in any order, and its things by their roles. */
interface Way {
  needs: readonly (readonly string[])[];
  may: ReadonlySet<string>;
  slots: ReadonlyMap<string, Slot>;
}

export interface Form {
  /** The shortest correct wording, shown if a clause comes close. */
  example: string;
  ways: readonly Way[];
  read(picked: Picked, frame: Frame): Reading;
}

/** `says`: words that it needs, alternatives by `|`; after `?` words that it may have. */
export function way(says: string, slots: Readonly<Record<string, Slot>> = {}): Way {
  const [needs = "", may = ""] = says.split("?");
  return {
    needs:
      needs.trim() === ""
        ? []
        : needs
            .trim()
            .split(/\s+/)
            .map((word) => word.split("|")),
    may: new Set(may.trim().split(/\s+/)),
    slots: new Map(Object.entries(slots)),
  };
}

/** `roles`: in which it may stand; `-` is none. */
export function slot(roles: string, fits: (thing: Thing) => boolean): Slot {
  const names = roles.split(" ").map((role) => (role === "-" ? "" : role));
  return { roles: names.includes("to") ? [...names, "arrow"] : names, fits, least: 1, most: 1 };
}

export function optional(of: Slot): Slot {
  return { ...of, least: 0 };
}

export function several(of: Slot, least = 1): Slot {
  return { ...of, least, most: 200 };
}

/** The clause as this way says it, with nothing left over. */
export function matchWay({ needs, may, slots }: Way, { words, things }: Frame): Picked | null {
  const left = [...words];
  for (const alternatives of needs) {
    const at = left.findIndex((word) => alternatives.includes(word));
    if (at === -1) return null;
    left.splice(at, 1);
  }
  if (!left.every((word, at) => may.has(word) && (word === "page" || word === "site" || left.indexOf(word) === at)))
    return null;
  const picked = new Map<string, Thing[]>();
  for (const thing of things) {
    const free = [...slots].find(
      ([name, { roles, fits, most }]) =>
        roles.includes(thing.role) &&
        (!picked.has(name) || (thing.isListed && (picked.get(name)?.length ?? 0) < most)) &&
        fits(thing),
    );
    if (!free) return null;
    picked.set(free[0], [...(picked.get(free[0]) ?? []), thing]);
  }
  return [...slots].every(([name, { least }]) => (picked.get(name)?.length ?? 0) >= least) ? picked : null;
}

export function isQuoted({ kind, text }: Thing): boolean {
  return kind === "quoted" && text.trim() !== "";
}

const nameCharacters = /^[\p{L}\p{M}\p{N}._~%+@/: -]+$/u;

/** A page by its path, its name or its title. A title of several words needs quotation marks, "page", or a site that has it. */
export function isPage(thing: Thing): boolean {
  const { kind, text, noun, words, isField, meaning } = thing;
  if (isField || kind === "fence" || !["", "page"].includes(noun) || text.trim() === "" || text.startsWith("#"))
    return false;
  if (kind !== "bare") return !text.includes("\n");
  if (!nameCharacters.test(text)) return false;
  return words === 1 || noun === "page" || (meaning?.pages.length ?? 0) > 0;
}

/** Nothing else can be meant. */
export function isSurelyPage(thing: Thing): boolean {
  const { kind, text, noun, meaning } = thing;
  const isPath = kind === "path" || (kind === "quoted" && isPathLike(text));
  return isPage(thing) && (isPath || noun === "page" || (meaning?.pages.length ?? 0) > 0);
}

export function isPathLike(text: string): boolean {
  return /\/|\.mdx?$/i.test(text) && !/\s/.test(text);
}

/** A name without a space, or in quotation marks. */
export function isSingle({ kind, text, words, isField }: Thing): boolean {
  if (isField || kind === "fence" || text.trim() === "") return false;
  return kind === "quoted" ? !text.includes("\n") : words === 1 && nameCharacters.test(text);
}

export function isFolder(thing: Thing): boolean {
  return isSingle(thing) && ["", "folder", "page"].includes(thing.noun);
}

export function isTerm({ kind, text, noun, isField, hasArticle }: Thing): boolean {
  if (isField || !["", "term"].includes(noun) || text.trim() === "") return false;
  return kind === "quoted" || (kind === "bare" && (!hasArticle || noun === "term"));
}

export function isGroup({ kind, text, noun, isField }: Thing): boolean {
  return !isField && ["quoted", "bare"].includes(kind) && ["", "group", "section"].includes(noun) && text.trim() !== "";
}

/** Where a change is limited to. */
export const place = { ...several(slot("in under", (thing) => isFolder(thing) || isPage(thing))), least: 0 };

/** One instruction for each place, or one without a place. */
export function inPlaces(picked: Picked, read: (under?: string) => Instruction): readonly Instruction[] {
  const places = picked.get("under") ?? [];
  return places.length === 0 ? [read()] : places.map((one) => read(pageText(one)));
}

export function text(picked: Picked, name: string): string {
  return picked.get(name)?.[0]?.text ?? "";
}

/** A page's path if the site decides what is meant; otherwise as it was written. */
export function pageText(thing: Thing | undefined): string {
  if (!thing) return "";
  const [path, ...others] = thing.meaning?.pages ?? [];
  const isDecided =
    thing.kind !== "path" && thing.noun !== "folder" && (thing.noun === "page" || thing.meaning?.isFolder !== true);
  return path !== undefined && others.length === 0 && isDecided ? path : thing.text;
}

export function page(picked: Picked, name: string): string {
  return pageText(picked.get(name)?.[0]);
}

export function given<Name extends string>(
  picked: Picked,
  names: readonly Name[],
  read: (picked: Picked, name: string) => string = text,
): { [key in Name]?: string } {
  return Object.fromEntries(names.filter((name) => picked.has(name)).map((name) => [name, read(picked, name)])) as {
    [key in Name]?: string;
  };
}

export function order(...instructions: readonly Instruction[]): Reading {
  return { kind: "orders", instructions };
}

export function unclear(reason: string): Reading {
  return { kind: "unclear", reason };
}

/**
 * The end of a term must be certain. In `with "access key."` the full stop may belong to the sentence. In `with access
 * key soon` the last word may not belong to the term, so an unquoted term has as many words as the one it replaces.
 */
export function orderIfBounded(picked: Picked, frame: Frame, ...instructions: readonly Instruction[]): Reading {
  const [from, to] = [picked.get("from")?.[0], picked.get("to")?.[0]];
  if (!to) return order(...instructions);
  const isBare = from?.kind === "bare" || to.kind === "bare";
  // Between "replace … with" and "with … everywhere" stand the terms and nothing else, if they look like names.
  const isName = [from, to].every((one) => one?.kind === "bare" && /^\p{Lu}\S*(?: \p{Lu}\S*)*$/u.test(one.text));
  const isSame = from?.words === to.words && from.kind === to.kind;
  // A heading's or a group's new name changes one place, and starts with a capital.
  const isOnePlace = instructions.every(({ kind }) => kind === "rename_heading" || kind === "rename_group");
  if (isBare && !isSame && !(isOnePlace && /^\p{Lu}/u.test(to.text)) && !(frame.words.includes("site") && isName))
    return unclear("it is not certain where the terms end: put them in quotation marks");
  const last = to.text.at(-1) ?? "";
  if (to.isPunctuated || !".,;:!?".includes(last) || from?.text.endsWith(last)) return order(...instructions);
  return unclear(
    `the new term ends with "${last}": put it after the quotation mark, or in both terms if it belongs to them`,
  );
}
