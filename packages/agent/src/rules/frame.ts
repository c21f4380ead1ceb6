import { articles, fillers, knownFields, reserved, senseAt } from "./lexicon.ts";
import type { Meaning, Names } from "./names.ts";
import type { Token } from "./tokens.ts";

/** A name, a term, a quotation or a block in a clause. */
export interface Thing {
  kind: "quoted" | "path" | "bare" | "fence";
  text: string;
  /** The canonical word before it, such as "to" or "after". Empty: none. */
  role: string;
  /** What the clause calls it: "page", "heading", or a field such as "title". Empty: nothing. */
  noun: string;
  /** An article stands directly before it. */
  hasArticle: boolean;
  words: number;
  isPunctuated: boolean;
  /** A comma or "and" joins it to the previous one. */
  isListed: boolean;
  /** A field that frameworks define, or that the clause calls a field. */
  isField: boolean;
  /** What it means on the site. Null: nothing, or the site is not known. */
  meaning: Meaning | null;
}

/** A clause as its canonical words and the things that it names. */
export interface Frame {
  words: readonly string[];
  things: readonly Thing[];
}

const nouns = new Set(["page", "folder", "heading", "section", "group", "field", "term", "text", "value", "entry"]);
const bareWordsMax = 8;
const pathCharacters = /^[\p{L}\p{M}\p{N}._~%+@/-]+$/u;
const address = /^https?:\/\/\S+$/;

type Part =
  | { kind: "thing"; thing: Thing }
  | { kind: "verb" | "topic" | "role"; word: string; role?: string; hasArticle: boolean }
  | { kind: "comma" | "colon" };

/** Null: a word is neither known nor part of a name. */
export function readFrame(tokens: readonly Token[], names: Names | null): Frame | null {
  const parts = partsOf(tokens, names);
  return parts && assemble(parts);
}

function partsOf(all: readonly Token[], names: Names | null): readonly Part[] | null {
  const named = namedRuns(all, names);
  const kept = all.flatMap((token, index) => {
    const isFiller = token.kind === "word" && fillers.has(token.lower) && !named[index];
    return isFiller || token.kind === "break" ? [] : [{ token, index }];
  });
  const tokens = kept.map(({ token, index }): Token => (named[index] ? { ...token, kind: "fence", text: "" } : token));
  const parts: Part[] = [];
  let run: { token: Token; index: number }[] = [];
  const hasArticle = (index: number) => {
    const before = all[index - 1];
    return before?.kind === "word" && articles.has(before.lower);
  };
  const flush = () => {
    const [first] = run;
    if (first)
      parts.push({
        kind: "thing",
        thing: bareThing(all.slice(first.index, (run.at(-1)?.index ?? 0) + 1), names, hasArticle(first.index)),
      });
    run = [];
  };
  for (let at = 0; at < kept.length; ) {
    const { token, index } = kept[at] as { token: Token; index: number };
    const sense = senseAt(tokens, at);
    const isNamed = named[index] === true;
    const isAfterField = parts.at(-1)?.kind === "topic" && lastWord(parts) === "field" && run.length === 0;
    const takesField = isAfterField && token.kind === "word" && sense?.kind !== "role";
    if (token.kind === "word" && (takesField || isPathLike(token.text)) && (takesField || !sense)) {
      flush();
      parts.push({ kind: "thing", thing: thing(token, "path", names, hasArticle(index)) });
      at += 1;
    } else if (token.kind === "quoted" || token.kind === "fence") {
      flush();
      parts.push({ kind: "thing", thing: thing(token, token.kind, names, hasArticle(index)) });
      at += 1;
    } else if (token.kind === "comma" || token.kind === "colon") {
      flush();
      parts.push({ kind: token.kind });
      at += 1;
    } else if (token.kind !== "word") return null;
    else if (sense && !isNamed) {
      flush();
      const { kind, word, role, length } = sense;
      if (kind === "field") {
        const named = { ...token, text: word };
        parts.push({ kind: "thing", thing: { ...thing(named, "bare", names, hasArticle(index)), isField: true } });
      } else parts.push({ kind, word, hasArticle: hasArticle(index), ...(role !== undefined && { role }) });
      at += length;
    } else if (reserved.has(token.lower) && !isNamed) return null;
    else {
      // A field is a name of its own: "the webhooks description".
      if (knownFields.has(token.lower) && !isNamed) flush();
      run.push({ token, index });
      if (knownFields.has(token.lower) && !isNamed) flush();
      if (run.length > bareWordsMax) return null;
      at += 1;
    }
  }
  flush();
  return parts;
}

function lastWord(parts: readonly Part[]): string {
  const last = parts.at(-1);
  return last && "word" in last ? last.word : "";
}

const nameWordsMax = 8;

/** The tokens that belong to a name of the site. A single word that instructions use is none, unless it has a capital. */
function namedRuns(tokens: readonly Token[], names: Names | null): readonly boolean[] {
  const named = new Array<boolean>(tokens.length).fill(false);
  if (!names) return named;
  for (let at = 0; at < tokens.length; at += 1) {
    for (let length = nameWordsMax; length > 0; length -= 1) {
      const part = tokens.slice(at, at + length);
      if (part.length < length || !part.every((token) => token.kind === "word")) continue;
      const [first] = part;
      if (first?.kind !== "word") continue;
      const isCommon = senseAt(tokens, at) !== null || reserved.has(first.lower);
      if (length === 1 && isCommon && (at === 0 || !/^\p{Lu}/u.test(first.text))) continue;
      if (length > 1 && articles.has(first.lower)) continue;
      if (!names.meaning(textOf(part))) continue;
      named.fill(true, at, at + length);
      at += length - 1;
      break;
    }
  }
  return named;
}

function textOf(tokens: readonly Token[]): string {
  return tokens.flatMap((token) => ("text" in token ? [token.text] : [])).join(" ");
}

function isPathLike(text: string): boolean {
  return (pathCharacters.test(text) && /\/|\.mdx?$/i.test(text)) || address.test(text) || /^#[\w-]+$/.test(text);
}

function thing(token: Token, kind: Thing["kind"], names: Names | null, hasArticle: boolean): Thing {
  const text = textOf([token]);
  return {
    kind,
    text,
    role: "",
    noun: "",
    hasArticle,
    words: 1,
    isPunctuated: token.kind === "quoted" && token.isPunctuated,
    isField: false,
    isListed: false,
    meaning: kind === "fence" ? null : (names?.meaning(text) ?? null),
  };
}

function bareThing(run: readonly Token[], names: Names | null, hasArticle: boolean): Thing {
  const text = textOf(run);
  const isField = run.length === 1 && knownFields.has(text.toLowerCase());
  const meaning = names?.meaning(text) ?? null;
  return {
    kind: "bare",
    text,
    role: "",
    noun: "",
    hasArticle,
    words: run.length,
    isPunctuated: false,
    isListed: false,
    isField,
    meaning,
  };
}

function isValueOf({ kind, isField, hasArticle }: Thing): boolean {
  return kind === "quoted" || (kind === "bare" && !isField && !hasArticle);
}

/** Gives each thing its role and its noun. */
function assemble(parts: readonly Part[]): Frame {
  const words: string[] = [];
  const things: Thing[] = [];
  let role = "";
  let noun = "";
  /** The previous thing's role, after a comma or "and" that may add to its list. */
  let listed: string | null = null;
  /** Nothing came after the previous thing that ends its list. */
  let isOpen = false;
  const dropNoun = () => {
    if (noun !== "") words.push(noun);
    noun = "";
  };
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    switch (part.kind) {
      case "thing": {
        const one = { ...part.thing };
        const value = next?.kind === "colon" ? parts[index + 2] : next;
        // `the description "…"`: the field says what the quotation is.
        if ((one.isField || noun === "field") && value?.kind === "thing" && isValueOf(value.thing)) {
          dropNoun();
          noun = one.text.toLowerCase();
          break;
        }
        one.isListed = role === "" && listed !== null;
        one.role = one.isListed ? (listed ?? "") : role;
        one.noun = noun;
        if (noun === "field") one.isField = true;
        things.push(one);
        [role, noun, listed, isOpen] = ["", "", null, true];
        break;
      }
      case "role":
        // "a folder called X": the noun names it, and its role came before.
        if (part.word === "called" && noun !== "" && role !== "") break;
        if (part.word !== "called") dropNoun();
        // "rather than under X" is about what is not meant.
        if (role !== "insteadof") role = part.word;
        listed = null;
        isOpen = false;
        break;
      case "topic":
        if (part.word === "") {
          if (isOpen) listed = things.at(-1)?.role ?? null;
          break;
        }
        if (nouns.has(part.word)) {
          const last = things.at(-1);
          const isAfter =
            parts[index - 1]?.kind === "thing" &&
            !part.hasArticle &&
            !(next?.kind === "thing" && !next.thing.hasArticle);
          if (isAfter && last && last.noun === "") last.noun = part.word;
          else {
            dropNoun();
            noun = part.word;
          }
        } else {
          dropNoun();
          words.push(part.word);
          // "to the navigation group X": the role is the group's.
          if (!(next?.kind === "topic" && nouns.has(next.word))) role = "";
          if (part.word !== "top") isOpen = false;
        }
        listed = null;
        break;
      case "verb":
        dropNoun();
        words.push(part.word);
        role = part.role ?? "";
        listed = null;
        isOpen = false;
        break;
      case "comma":
        // "In guides/auth, the heading …": a place before the rest, no list.
        if (words.length === 0 && things.at(-1)?.role === "in" && things.length === 1) isOpen = false;
        if (isOpen) listed = things.at(-1)?.role ?? null;
        break;
      case "colon":
        // "guides/auth: …" says where.
        if (index === 1 && things[0]?.kind === "path") things[0].role = "in";
        if (role === "" && things.length > 0 && next?.kind === "thing") role = "to";
        break;
    }
  }
  dropNoun();
  // A heading as it is written in the file.
  for (const one of things) if (one.noun === "" && /^#{1,6}\s/.test(one.text)) one.noun = "heading";
  return { words, things };
}
