import { connectors, courtesies, leads, verbs } from "./lexicon.ts";
import type { Names } from "./names.ts";
import type { Token } from "./tokens.ts";

/** The tokens of one instruction, without connectors and courtesies. */
export interface Clause {
  tokens: readonly Token[];
  isQuestion: boolean;
  /** The reason for the next one: "…, so please …". */
  isReason: boolean;
}

/**
 * Splits at sentence ends, list items, blank lines and fenced blocks, and at a comma, a line end, "and" or "then" if a
 * verb follows. Elsewhere those words belong to the clause, and a form must match them.
 */
export function splitClauses(all: readonly Token[], names: Names | null = null): readonly Clause[] {
  const tokens = plainTokens(all);
  const clauses: Clause[] = [];
  let current: Token[] = [];
  /** "Can you … and …?": the rest of the sentence is a request too. */
  let isAsked = false;
  const flush = (isQuestion: boolean, isReason = false) => {
    const wish = isQuestion ? wishOf(current) : null;
    const trimmed = trim(wish ?? current);
    isAsked ||= isRequest(current);
    if (trimmed.length > 0 || isQuestion)
      clauses.push({ tokens: trimmed, isQuestion: isQuestion && !wish && !isAsked, isReason });
    current = [];
  };
  const verbFollows = findVerbsAhead(tokens, names);
  for (const [index, token] of tokens.entries()) {
    switch (token.kind) {
      case "question":
        flush(true);
        isAsked = false;
        break;
      case "stop":
      case "item":
        // A block's introduction belongs to it.
        if (!fenceFollows(tokens, index + 1)) flush(false);
        isAsked = false;
        break;
      case "break":
        if (verbFollows[index + 1]) flush(false);
        break;
      case "fence":
        current.push(token);
        flush(false);
        break;
      case "comma":
        // "In guides/auth, rename …": the place comes before the verb.
        if (verbFollows[index + 1] && opensWithPlace(current)) break;
        if (verbFollows[index + 1]) flush(false);
        else current.push(token);
        break;
      case "word":
        if (token.lower === "so" && current.at(-1)?.kind === "comma" && isOrderAt(tokens, index + 1))
          flush(false, true);
        else if (isConnector(token) && verbFollows[index + 1] && !isLead(current)) flush(false);
        else current.push(token);
        break;
      default:
        current.push(token);
    }
  }
  flush(false);
  return clauses;
}

function fenceFollows(tokens: readonly Token[], from: number): boolean {
  let at = from;
  while (tokens[at]?.kind === "item" || tokens[at]?.kind === "break") at += 1;
  return tokens[at]?.kind === "fence";
}

/** For each position: does a verb follow after connectors only? Filled from the end, in one pass. */
function findVerbsAhead(tokens: readonly Token[], names: Names | null): readonly boolean[] {
  // "move Install, Send and Hooks": a page may be called as a verb.
  const isName = (text: string) => /^\p{Lu}/u.test(text) && (names?.meaning(text) ?? null) !== null;
  const ahead = new Array<boolean>(tokens.length + 1).fill(false);
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token?.kind === "word" && verbs.has(token.lower) && !isName(token.text)) ahead[index] = true;
    else if (token && (token.kind === "comma" || token.kind === "break" || isConnector(token) || isCourtesy(token))) {
      ahead[index] = ahead[index + 1] ?? false;
    }
  }
  return ahead;
}

const places = new Set(["in", "on", "under", "below", "within", "across", "throughout", "everywhere"]);
const placeTokensMax = 5;

function opensWithPlace(clause: readonly Token[]): boolean {
  const tokens = trim(clause);
  const [first] = tokens;
  if (first?.kind !== "word" || !places.has(first.lower) || tokens.length > placeTokensMax) return false;
  return !tokens.some((token) => token.kind === "word" && verbs.has(token.lower));
}

/**
 * A comment on a line of a pull request begins with its place: "In guides/auth.md, line 5:", or without a line. The rest of the clause, and
 * the clauses after it, are about that page. Null: the clause has no such opening.
 */
export function splitPlace(clause: Clause, text: string): { page: Token; rest: Clause } | null {
  const [first, second] = clause.tokens;
  const colon = clause.tokens.findIndex(({ kind }) => kind === "colon");
  const from = second?.start ?? 0;
  if (!isWord(first, "in") || colon < 2 || colon > openingTokensMax) return null;
  const opening = text.slice(from, clause.tokens[colon]?.start).trimEnd();
  const [path] = /^.*\S(?=, (?:removed )?line \d+$)/s.exec(opening) ?? /^\S+\.\w+$/.exec(opening) ?? [];
  if (path === undefined) return null;
  const page: Token = { kind: "quoted", text: path, isPunctuated: true, start: from, end: from + path.length };
  return { page, rest: { ...clause, tokens: trim(clause.tokens.slice(colon + 1)) } };
}

const openingTokensMax = 40;

function trim(tokens: readonly Token[]): readonly Token[] {
  let first = 0;
  let last = tokens.length;
  const isNoise = (token: Token | undefined) => token?.kind === "comma" || (token !== undefined && isCourtesy(token));
  const skip = () => {
    while (first < last && (isNoise(tokens[first]) || isConnector(tokens[first]))) first += 1;
  };
  skip();
  const lead = leads.find((words) => words.every((word, index) => isWord(tokens[first + index], word)));
  if (lead && (isOrderAt(tokens, first + lead.length) || tokens[first + lead.length]?.kind === "comma")) {
    first += lead.length;
    skip();
  }
  while (last > first && isNoise(tokens[last - 1])) last -= 1;
  return tokens.slice(first, last);
}

/** "Could you fix …?" is an order in the form of a question. */
function isRequest(tokens: readonly Token[]): boolean {
  const you = tokens.findIndex((token) => isWord(token, "you"));
  const isAsked = ["can", "could", "would", "will"].some((word) => isWord(tokens[you - 1], word));
  const isFirst = tokens
    .slice(0, you - 1)
    .every((token) => token.kind === "comma" || isConnector(token) || isCourtesy(token));
  return isAsked && isFirst && isOrderAt(tokens, you + 1);
}

/** "Can the group be called X?": the order in it. */
function wishOf(tokens: readonly Token[]): readonly Token[] | null {
  const at = tokens.findIndex((token) => isWord(token, "can") || isWord(token, "could"));
  const isFirst = at === 0 || tokens[at - 1]?.kind === "comma";
  const isPassive = tokens.slice(at + 1).some((token) => isWord(token, "be"));
  return isFirst && isPassive && !isWord(tokens[at + 1], "you") ? tokens.toSpliced(at, 1) : null;
}

/** "would you mind moving X" as "would you move X", and `s/a/b/` as a replacement. */
function plainTokens(tokens: readonly Token[]): readonly Token[] {
  return tokens.flatMap((token, index): readonly Token[] => {
    if (token.kind !== "word") return [token];
    if (token.lower === "mind" && isWord(tokens[index - 1], "you")) return [];
    const { start, end } = token;
    const word = (lower: string): Token => ({ kind: "word", text: lower, lower, start, end });
    const [, from, to] = /^s\/([^/]+)\/([^/]+)\/?g?$/.exec(token.text) ?? [];
    if (from !== undefined && to !== undefined) {
      const quoted = (text: string): Token => ({ kind: "quoted", text, isPunctuated: true, start, end });
      return [word("replace"), quoted(from), word("with"), quoted(to)];
    }
    const [, stem = ""] = /^(.+)ing$/.exec(token.lower) ?? [];
    const verb =
      isWord(tokens[index - 1], "mind") && [stem, `${stem}e`, stem.slice(0, -1)].find((one) => verbs.has(one));
    return [verb ? word(verb) : token];
  });
}

/** Such words are courtesies only before an instruction. */
function isOrderAt(tokens: readonly Token[], at: number): boolean {
  let next = at;
  while (tokens[next]?.kind === "comma" || isConnector(tokens[next])) next += 1;
  const token = tokens[next];
  return token?.kind === "word" && (verbs.has(token.lower) || places.has(token.lower) || isCourtesy(token));
}

/** "Can you" and "I'd like you to" alone. */
function isLead(tokens: readonly Token[]): boolean {
  const words = tokens.filter((token) => token.kind !== "comma" && !isCourtesy(token) && !isConnector(token));
  return leads.some((lead) => lead.length === words.length && lead.every((word, index) => isWord(words[index], word)));
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === "word" && token.lower === word;
}

function isConnector(token: Token | undefined): boolean {
  return token?.kind === "word" && connectors.has(token.lower);
}

function isCourtesy(token: Token): boolean {
  return token.kind === "word" && courtesies.has(token.lower);
}
