import type { Instruction } from "./instruction.ts";
import type { Captures } from "./pattern.ts";
import { textOf } from "./slots.ts";

/** What a clause means, or why it is not clear. */
export type Reading =
  | { kind: "orders"; instructions: readonly Instruction[] }
  /** "list it in the navigation", where "it" is the previous instruction's page. */
  | { kind: "list_it"; group?: string }
  /** "delete X": a redirect is required too, by "redirect it to Y" or a separate instruction. */
  | { kind: "delete"; page: string }
  | { kind: "redirect_it"; to: string }
  /** "hide it", where "it" is the page that was just moved. */
  | { kind: "unlist_it" }
  /** "and update the links to it": part of every move, and meaningless without one. */
  | { kind: "with_links" }
  /** "check for broken links" and "find X", which need "and fix them" or "and replace it with Y". */
  | { kind: "look"; instruction: Instruction }
  | { kind: "fix_them"; to?: string }
  /** A greeting, or "do the following:". */
  | { kind: "nothing" }
  | { kind: "unclear"; reason: string };

export interface Form {
  /** The shortest correct wording, shown if a clause comes close. */
  example: string;
  patterns: readonly string[];
  read(captures: Captures): Reading;
}

/** Parts that several forms share. */
export const everywhere =
  "(everywhere|throughout|[everywhere] (in|on|across|throughout) (every page|all [the|of the] pages|[all] [of] [the|our|the whole|the entire|all the] (docs|documentation|site|pages))) {!everywhere}";
export const below =
  "[only] (in|on|under|below|within|inside) ([the] [page|folder|pages (in|under|below|of)] [the] [folder] {under:page}|the {under:page} (page|folder)) [only|alone]";
/** Before the verb: "in guides/, replace …". */
export const within = `[(in|on|under|below|within) ([the] [page|folder] {under:page}|the {under:page} (page|folder))|${everywhere}]`;
export const page = "[the] [page]";
/** A page by its path, its name or its title: "guides/auth", "the page Setup", "the legacy setup page". */
export const named = (name: string) => `([the] [page] {${name}:page} [page]|the {${name}:phrase} page)`;
export const navigation = "[the|our] navigation";

export function text(captures: Captures, name: string): string {
  return textOf(captures.get(name));
}

export function optional<Name extends string>(captures: Captures, names: readonly Name[]): { [key in Name]?: string } {
  return Object.fromEntries(names.filter((name) => captures.has(name)).map((name) => [name, text(captures, name)])) as {
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
export function orderIfBounded(captures: Captures, instruction: Instruction): Reading {
  const [from, to] = [captures.get("from") ?? [], captures.get("to") ?? []];
  const isBare = from[0]?.kind === "word" || to[0]?.kind === "word";
  // Between "replace … with" and "with … everywhere" stand the terms and nothing else, if they look like names.
  const isName = [...from, ...to].every((token) => token.kind === "word" && /^\p{Lu}/u.test(token.text));
  if (isBare && from.length !== to.length && !(captures.has("everywhere") && isName))
    return unclear("it is not certain where the terms end: put them in quotation marks");
  const last = text(captures, "to").at(-1) ?? "";
  const isPunctuated = to[0]?.kind === "quoted" && to[0].isPunctuated;
  if (isPunctuated || !".,;:!?".includes(last) || text(captures, "from").endsWith(last)) return order(instruction);
  return unclear(
    `the new term ends with "${last}": put it after the quotation mark, or in both terms if it belongs to them`,
  );
}
