import type { Instruction } from "./instruction.ts";
import type { Captures } from "./pattern.ts";
import { textOf } from "./slots.ts";

/** What a clause means, or why its words are not enough to say. */
export type Reading =
  | { kind: "orders"; instructions: readonly Instruction[] }
  /** "list it in the navigation", where "it" is the page of the order before. */
  | { kind: "list_it"; group?: string }
  /** "delete X": where its readers go must be said too, by "redirect it to Y" or by a redirect of its own. */
  | { kind: "delete"; page: string }
  | { kind: "redirect_it"; to: string }
  /** "and update the links to it": done with every move, and nothing to do without one. */
  | { kind: "with_links" }
  /** "check for broken links" and "find X", which do nothing until "and fix them" or "and replace it with Y" follows. */
  | { kind: "look"; instruction: Instruction }
  | { kind: "fix_them"; to?: string }
  /** A greeting, or "do the following:". */
  | { kind: "nothing" }
  | { kind: "unclear"; reason: string };

export interface Form {
  /** The shortest right way to say it; shown when a clause comes near. */
  example: string;
  patterns: readonly string[];
  read(captures: Captures): Reading;
}

/** Pieces that several forms share. */
export const everywhere =
  "(everywhere|throughout|[everywhere] (in|on|across|throughout) (every page|all [the|of the] pages|[all] [of] [the|our|the whole|the entire|all the] (docs|documentation|site|pages))) {!everywhere}";
export const below =
  "[only] (in|on|under|below|within|inside) ([the] [page|folder|pages (in|under|below|of)] [the] [folder] {under:page}|the {under:page} (page|folder)) [only|alone]";
/** Before the verb: "in guides/, replace …". */
export const within = `[(in|on|under|below|within) ([the] [page|folder] {under:page}|the {under:page} (page|folder))|${everywhere}]`;
export const page = "[the] [page]";
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
 * Where a term ends must be certain. `with "access key."`: the full stop may be the sentence's. `with access key soon`:
 * without quotation marks a last word may not belong to it, so such a term has as many words as the one it replaces.
 */
export function orderIfBounded(captures: Captures, instruction: Instruction): Reading {
  const [from, to] = [captures.get("from") ?? [], captures.get("to") ?? []];
  const isBare = from[0]?.kind === "word" || to[0]?.kind === "word";
  if (isBare && from.length !== to.length)
    return unclear("it is not certain where the terms end: put them in quotation marks");
  const last = text(captures, "to").at(-1) ?? "";
  const isPunctuated = to[0]?.kind === "quoted" && to[0].isPunctuated;
  if (isPunctuated || !".,;:!?".includes(last) || text(captures, "from").endsWith(last)) return order(instruction);
  return unclear(
    `the new term ends with "${last}": put it after the quotation mark, or in both terms if it belongs to them`,
  );
}
