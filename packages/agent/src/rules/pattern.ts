import type { Token } from "./tokens.ts";
import { synonyms } from "./words.ts";

/** The tokens of a form's slots, by name. A flag is present or not. */
export type Captures = ReadonlyMap<string, readonly Token[]>;

type Node =
  | { kind: "word"; word: string }
  | { kind: "mark"; mark: "comma" | "colon" }
  | { kind: "slot"; name: string; type: string }
  | { kind: "flag"; name: string }
  | { kind: "group"; options: readonly Sequence[]; least: 0 | 1; most: 1 | 20 };
type Sequence = readonly Node[];

export type Pattern = Sequence;

/** All possible token counts for a slot of this type at this position. */
export type SlotLengths = (type: string, tokens: readonly Token[], at: number) => readonly number[];

const named = /\[the\] \[(page|folder)\] \{(\w+):page\}/g;

/**
 * Reads a form: words as they are, a canonical one for all its synonyms, `(a|b c)` one of them, `[a|b]` perhaps one, `*(a|b)` any number, `{name:type}` a
 * slot, `{!name}` a flag, `,` and `:` themselves.
 */
export function compilePattern(source: string): Pattern {
  // "the page X" can also be written "the X page".
  const both = source.replaceAll(named, (all, noun: string, name: string) => `(${all}|the {${name}:page} ${noun})`);
  const parts = both.match(/\*\(|[[\]()|,:]|\{[^}]*\}|[^\s[\]()|,:{}]+/g) ?? [];
  let at = 0;
  const sequences = (): Sequence[] => {
    const options: Node[][] = [[]];
    for (; at < parts.length && parts[at] !== ")" && parts[at] !== "]"; at += 1) {
      if (parts[at] === "|") options.push([]);
      else options.at(-1)?.push(node(parts[at] ?? ""));
    }
    return options;
  };
  const node = (part: string): Node => {
    if (part === "," || part === ":") return { kind: "mark", mark: part === "," ? "comma" : "colon" };
    if (part.startsWith("{!")) return { kind: "flag", name: part.slice(2, -1) };
    if (part.startsWith("{")) {
      const [name = "", type = ""] = part.slice(1, -1).split(":");
      return { kind: "slot", name, type };
    }
    if (part !== "(" && part !== "[" && part !== "*(") return saidFor(part);
    at += 1;
    return { kind: "group", options: sequences(), least: part === "(" ? 1 : 0, most: part === "*(" ? 20 : 1 };
  };
  return sequences()[0] ?? [];
}

function saidFor(word: string): Node {
  const options = synonyms.get(word)?.map((phrase) => phrase.map((part): Node => ({ kind: "word", word: part })));
  return options ? { kind: "group", options, least: 1, most: 1 } : { kind: "word", word };
}

/** All ways in which the pattern matches all tokens. */
export function matchPattern(pattern: Pattern, tokens: readonly Token[], lengths: SlotLengths): readonly Captures[] {
  const found: Captures[] = [];
  match(pattern, 0, new Map(), (at, captures) => {
    if (at === tokens.length) found.push(captures);
  });
  return found;

  function match(
    nodes: Sequence,
    at: number,
    captures: Captures,
    then: (at: number, captures: Captures) => void,
  ): void {
    const [node, ...rest] = nodes;
    if (!node) {
      then(at, captures);
      return;
    }
    const token = tokens[at];
    const goOn = (end: number, more: Captures = captures) => match(rest, end, more, then);
    switch (node.kind) {
      case "word":
        if (token?.kind === "word" && token.lower === node.word) goOn(at + 1);
        return;
      case "mark":
        if (token?.kind === node.mark) goOn(at + 1);
        return;
      case "flag":
        goOn(at, new Map([...captures, [node.name, []]]));
        return;
      case "slot":
        // A slot can be filled only once: "in a in b" is not understood.
        if (captures.has(node.name)) return;
        for (const length of lengths(node.type, tokens, at)) {
          goOn(at + length, new Map([...captures, [node.name, tokens.slice(at, at + length)]]));
        }
        return;
      case "group":
        repeat(node, node.most, at, captures, goOn);
    }
  }

  function repeat(
    group: Extract<Node, { kind: "group" }>,
    most: number,
    at: number,
    captures: Captures,
    then: (at: number, captures: Captures) => void,
  ): void {
    if (group.least === 0 || most < group.most) then(at, captures);
    if (most === 0) return;
    for (const option of group.options) {
      match(option, at, captures, (end, more) => {
        if (end > at) repeat(group, most - 1, end, more, then);
      });
    }
  }
}
