import type { Clause } from "./clauses.ts";
import { type Form, isPage, isPathLike, matchWay, type Reading, unclear } from "./form.ts";
import { type Frame, readFrame } from "./frame.ts";
import { conditions, fillers, negations, senseAt, verbs } from "./lexicon.ts";
import type { Names } from "./names.ts";
import type { Token } from "./tokens.ts";

const unknownForm = unclear("it is not among the instructions that the rules know");

/** Greetings and introductions. */
const noise =
  /^(?:do (?:the following|this|these)(?: things| changes)?|make (?:these|the following) changes|here is what to do|the following|instructions|tasks|todo|changes|go ahead|(?:after|on top of) (?:that|this)|in addition|thank you(?: very much| so much)?|(?:hi|hello|hey)(?: there| emend| team)?|find|search)$/;

/** Every instruction looks after links. */
const withLinks =
  /^(?:make sure|ensure)(?: that)? (?:nothing (?:that )?(?:links|points) to it breaks|(?:no|all|the|every|existing|old) links? (?:to it )?(?:break|breaks|still works?|keeps? working))$/;

/** Why something is done. */
const noNeed =
  /^(?:we|i) (?:don't|do not|no longer) (?:need|support|use|want|offer) (?:it|them|that|this)(?: any ?more| any longer)?$/;

/** Statements about one page or name, which is `"` here. */
const about = [
  /^(?:we|i) (?:don't|do not|no longer) (?:need|support|use|want|offer) (?:the )?"(?: page)?(?: any ?more| any longer)?$/,
  /^(?:the )?"(?: page)? (?:isn't|is not|is missing|is not listed)(?: in| from)? (?:the )?(?:navigation|nav|sidebar|menu)(?: yet)?$/,
];

/** The text of a new page, without quotation marks. */
const itsText =
  /^(?:it|the (?:page|body|text|content)) (?:should|must)(?: just| simply| only)? (?:say|read|be|contain)(?: the text)? "$/;

/** What must stay as it is, where the instruction leaves it alone anyway. */
const kept =
  /^(?:but )?(?:(?:leave|leaving|keep|keeping|(?:don't|do not) (?:touch|change)|without (?:touching|changing)|except|except in|not in)(?: in)?(?: the| all| any| our| its| other)* (?<noun>code(?: (?:samples|blocks|examples|snippets))?|page|file|links|old (?:link|url|address))(?: itself)?(?: (?:alone|untouched|unchanged|as is|as it is|as they are|where it is|in place|working))?|(?:the )?(?<stays>page|file)(?: itself)?(?: should| must)? stays? (?:where it is|in place))$/;
const keptTokensMax = 12;

/** Cuts off "…, but leave code samples alone". */
export function splitKept(clause: Clause): readonly Clause[] {
  const from = Math.max(1, clause.tokens.length - keptTokensMax);
  if (keptBy(clause.tokens) !== null) return [clause];
  for (let at = from; at < clause.tokens.length; at += 1) {
    const tail = clause.tokens.slice(at);
    const isBecause = tail[0]?.kind === "word" && tail[0].lower === "because" && isReason({ ...clause, tokens: tail });
    if (isBecause) return [{ ...clause, tokens: clause.tokens.slice(0, at) }];
    if (keptBy(tail) === null && !noNeed.test(lowerText(tail))) continue;
    const isAfterComma = clause.tokens[at - 1]?.kind === "comma";
    const tokens = clause.tokens.slice(0, isAfterComma ? at - 1 : at);
    return [
      { ...clause, tokens },
      { ...clause, tokens: tail },
    ];
  }
  return [clause];
}

function keptBy(tokens: readonly Token[]): string | null {
  const { noun, stays } = kept.exec(lowerText(tokens))?.groups ?? {};
  const [what = null] = (noun ?? stays ?? "").split(" ");
  return what === "" ? null : what;
}

function lowerText(tokens: readonly Token[]): string {
  const words = tokens.filter(({ kind }) => kind !== "comma" && kind !== "colon" && kind !== "break");
  return words.length > 20 ? "" : words.map((token) => (token.kind === "word" ? token.lower : '"')).join(" ");
}

export interface Known {
  /** The whole prompt. */
  text: string;
  names: Names | null;
  forms: readonly Form[];
}

export function readClause(clause: Clause, known: Known): Reading {
  if (noise.test(lowerText(clause.tokens))) return { kind: "nothing" };
  if (withLinks.test(lowerText(clause.tokens))) return { kind: "with_links" };
  if (noNeed.test(lowerText(clause.tokens))) return { kind: "nothing" };
  const what = keptBy(clause.tokens);
  if (what !== null) return { kind: "keeps", what };
  if (clause.isQuestion) return unclear("a question changes nothing: write it as an order");
  const quotedTail = quoteTail(clause.tokens, known.text);
  const said = quotedTail.at(-1);
  if (itsText.test(lowerText(quotedTail)) && said?.kind === "quoted") return { kind: "text", content: said.text };
  const topic = topicOf(clause.tokens, known.names);
  if (topic !== null) return { kind: "about", page: topic };
  const barred = barredWord(clause.tokens);
  if (barred !== null) return barred;
  const frame = readFrame(quotedTail, known.names);
  return frame ? readFormsOf(frame, known.forms) : unknownForm;
}

function readFormsOf(frame: Frame, forms: readonly Form[]): Reading {
  const readings = forms.flatMap((form) =>
    form.ways.flatMap((one) => {
      const picked = matchWay(one, frame);
      if (!picked) return [];
      const several = [...picked.values()].flat().find((thing) => isPage(thing) && isAmbiguous(thing.meaning?.pages));
      return several
        ? [unclear(`"${several.text}" could be any of ${several.meaning?.pages.slice(0, 5).join(", ")}`)]
        : [form.read(picked, frame)];
    }),
  );
  const clear = readings.filter(({ kind }) => kind !== "unclear");
  const [reading, ...others] = new Map(clear.map((one) => [JSON.stringify(one), one])).values();
  if (reading && others.length === 0) return reading;
  if (reading) return unclear("it can be read in more than one way: put names and terms in quotation marks");
  return readings[0] ?? unknownForm;
}

function isAmbiguous(pages: readonly string[] | undefined): boolean {
  return (pages?.length ?? 0) > 1;
}

/** No form accepts a negation or a condition outside a name or a known phrase such as "rather than". */
function barredWord(tokens: readonly Token[]): Reading | null {
  const plain = withoutFillers(tokens);
  for (let at = 0; at < plain.length; ) {
    const token = plain[at];
    const { length = 1 } = senseAt(plain, at) ?? {};
    if (token?.kind === "word" && length === 1) {
      if (negations.has(token.lower)) return unclear(`"${token.lower}" says what not to do`);
      if (conditions.has(token.lower)) return unclear(`"${token.lower}" makes it depend on something`);
    }
    at += length;
  }
  return null;
}

/** "We rebranded last week, so …": a statement that neither orders nor forbids anything. */
export function isReason({ tokens }: Clause): boolean {
  const [first] = tokens;
  const isOrder = first?.kind === "word" && verbs.has(first.lower);
  return !isOrder && barredWord(tokens) === null && tokens.every(({ kind }) => kind === "word" || kind === "comma");
}

function withoutFillers(tokens: readonly Token[]): readonly Token[] {
  return tokens.filter((token) => token.kind !== "word" || !fillers.has(token.lower));
}

const takesText = new Set(["say", "read", "text", "body", "content", "description", "title"]);

/** "the description to: Events by HTTP": words after a colon at the end are the text, as they are. */
function quoteTail(tokens: readonly Token[], text: string): readonly Token[] {
  const colon = tokens.findIndex(({ kind }) => kind === "colon");
  const tail = tokens.slice(colon + 1);
  const [first, last] = [tail[0], tail.at(-1)];
  if (colon < 2 || !first || !last || !tail.every(({ kind }) => kind === "word" || kind === "comma")) return tokens;
  if (!tokens.slice(0, colon).some((token) => token.kind === "word" && takesText.has(token.lower))) return tokens;
  const isText = tokens.slice(0, colon).some((token) => token.kind === "word" && ["say", "read"].includes(token.lower));
  const stop = isText && text.charAt(last.end) === "." ? 1 : 0;
  const { start } = first;
  const written = text.slice(start, last.end + stop);
  return [...tokens.slice(0, colon + 1), { kind: "quoted", text: written, isPunctuated: true, start, end: last.end }];
}

/** The page of a statement that only says what is wrong with it. */
function topicOf(tokens: readonly Token[], names: Names | null): string | null {
  if (tokens.length > aboutTokensMax) return null;
  for (const [from] of tokens.entries()) {
    for (let to = from + 1; to <= tokens.length; to += 1) {
      const named = tokens.slice(from, to).map((token) => ("text" in token ? token.text : ","));
      const quoted = quotedToken(named.join(" "), tokens[from]?.start ?? 0);
      const said = lowerText([...tokens.slice(0, from), quoted, ...tokens.slice(to)]);
      if (!about.some((pattern) => pattern.test(said))) continue;
      const pages = names?.meaning(quoted.text)?.pages ?? [];
      if (pages.length === 1 || (named.length === 1 && isPathLike(quoted.text))) return pages[0] ?? quoted.text;
    }
  }
  return null;
}

const aboutTokensMax = 15;

function quotedToken(text: string, start: number): Token & { kind: "quoted" } {
  return { kind: "quoted", text, isPunctuated: true, start, end: start };
}

/** The clause with the page that "it" means. Null: it has no such word. */
export function withPage(clause: Clause, page: string): Clause | null {
  const at = clause.tokens.findIndex((token) => token.kind === "word" && token.lower === "it");
  const token = clause.tokens[at];
  if (!token) return null;
  return { ...clause, tokens: clause.tokens.with(at, quotedToken(page, token.start)) };
}

/**
 * A clause of a comment on a page. It is about this page if a form takes a place and the clause names none; a form without
 * one, such as a move, names its pages itself.
 */
export function readOnPage(clause: Clause, page: Token, known: Known): Reading {
  const place: readonly Token[] = [{ kind: "word", text: "in", lower: "in", start: page.start, end: page.start }, page];
  const isEverywhere = readFrame(clause.tokens, known.names)?.words.includes("site");
  const there = isEverywhere ? unknownForm : readClause({ ...clause, tokens: [...clause.tokens, ...place] }, known);
  return there === unknownForm ? readClause(clause, known) : there;
}
