import type { Token } from "./tokens.ts";
import { connectors, courtesies, leads, verbs } from "./words.ts";

/** The tokens of one instruction, without connectors and courtesies. */
export interface Clause {
  tokens: readonly Token[];
  isQuestion: boolean;
}

/**
 * Splits at sentence ends, list items, blank lines and fenced blocks, and at a comma, a line end, "and" or "then" if a
 * verb follows. Elsewhere those words belong to the clause, and a form must match them.
 */
export function splitClauses(tokens: readonly Token[]): readonly Clause[] {
  const clauses: Clause[] = [];
  let current: Token[] = [];
  const flush = (isQuestion: boolean) => {
    const trimmed = trim(current);
    if (trimmed.length > 0 || isQuestion)
      clauses.push({ tokens: trimmed, isQuestion: isQuestion && !isRequest(current) });
    current = [];
  };
  const verbFollows = findVerbsAhead(tokens);
  for (const [index, token] of tokens.entries()) {
    switch (token.kind) {
      case "question":
        flush(true);
        break;
      case "stop":
      case "item":
        // A block's introduction belongs to it.
        if (!fenceFollows(tokens, index + 1)) flush(false);
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
        if (isConnector(token) && verbFollows[index + 1]) flush(false);
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
function findVerbsAhead(tokens: readonly Token[]): readonly boolean[] {
  const ahead = new Array<boolean>(tokens.length + 1).fill(false);
  for (let index = tokens.length - 1; index >= 0; index -= 1) {
    const token = tokens[index];
    if (token?.kind === "word" && verbs.has(token.lower)) ahead[index] = true;
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
  if (lead && isOrderAt(tokens, first + lead.length)) {
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

/** Such words are courtesies only before an instruction. */
function isOrderAt(tokens: readonly Token[], at: number): boolean {
  let next = at;
  while (tokens[next]?.kind === "comma" || isConnector(tokens[next])) next += 1;
  const token = tokens[next];
  return token?.kind === "word" && (verbs.has(token.lower) || places.has(token.lower) || isCourtesy(token));
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
