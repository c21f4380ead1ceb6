import { rulesModelName } from "@emend/base/model-names.ts";
import type { DashboardReading } from "@emend/contract";
import { AgentFault } from "../faults.ts";
import { shown } from "../outcome.ts";
import { type Clause, splitClauses, splitPlace } from "./clauses.ts";
import { findConflict, key } from "./conflicts.ts";
import { everywhere, type Form, type Reading } from "./form.ts";
import { contentForms } from "./forms/contents.ts";
import { navigationForms } from "./forms/navigation.ts";
import { pageForms } from "./forms/pages.ts";
import { termForms } from "./forms/terms.ts";
import { describeInstruction, type Instruction } from "./instruction.ts";
import { compilePattern, matchPattern, type Pattern } from "./pattern.ts";
import { slotLengths } from "./slots.ts";
import { type Token, tokenize } from "./tokens.ts";
import { conditions, meanings, negations } from "./words.ts";

/** Every form of an instruction that the rules know. */
export const forms: readonly Form[] = [
  ...termForms,
  ...pageForms,
  ...contentForms,
  ...navigationForms,
  {
    example: "do the following:",
    patterns: [
      "do (the following|this|these|these things|the following things|the following changes) [:]",
      "make (these|the following) changes [:]",
      "(here is what to do|the following|instructions|tasks|todo|changes) :",
      "(go ahead|after that|after this|in addition|on top of that)",
      "thank you [very much|so much]",
      "(hi|hello|hey) [there|emend|team]",
      // For "find and replace …".
      "(find|search)",
    ],
    read: () => ({ kind: "nothing" }),
  },
];

type Parsed =
  | { kind: "understood"; instructions: readonly Instruction[] }
  /** `clause`: the words that were not understood, as written. */
  | { kind: "not_understood"; clause: string; reason: string };

const instructionsMax = 50;
const onlyLooking = "looking changes nothing: write fix broken links, or replace one term with another";

interface KnownForm {
  form: Form;
  patterns: readonly Pattern[];
}

const knownForms = forms.map(compileForm);

/** Parses a prompt completely or not at all. Never throws. Its work is bounded by the prompt's length. */
export function parsePrompt(prompt: string, known: readonly KnownForm[] = knownForms): Parsed {
  const [redacted] = /\[redacted: [\w-]+\]/.exec(prompt) ?? [];
  if (redacted)
    return refuse(
      redacted,
      "a credential stood here and was taken out before anything was stored; ask without it, by the page and the words around it",
    );
  const cut = tokenize(prompt);
  if (cut.kind === "unclosed")
    return refuse(cut.excerpt, "a quotation mark or a fence that is opened here is not closed");
  const said: (Instruction | Deletion)[] = [];
  let added: string | null = null;
  let [looked, lookedWords]: [Instruction | null, string] = [null, ""];
  let page: Token | null = null;
  for (const whole of splitClauses(cut.tokens)) {
    const placed = splitPlace(whole, cut.text);
    if (placed) page = placed.page;
    const clause = placed?.rest ?? whole;
    if (placed && clause.tokens.length === 0) continue;
    const words = wordsOf(clause, cut.text);
    const reading = page === null ? readClause(clause, known) : readOnPage(clause, page, known);
    if (reading.kind === "unclear") return refuse(words, reading.reason);
    if (reading.kind === "orders") said.push(...reading.instructions);
    if (reading.kind === "delete") said.push({ ...reading, words });
    if (reading.kind === "redirect_it") {
      const last = said.pop();
      if (last?.kind !== "delete") return refuse(words, "no page was deleted just before that it could be about");
      said.push({ kind: "remove_page", page: last.page, to: reading.to });
    }
    if (reading.kind === "unlist_it") {
      const last = said.at(-1);
      const named = last?.kind === "move_page" ? last.from : null;
      if (named === null) return refuse(words, 'no page was moved just before that "it" could mean');
      // Before the move, the page still has the name that the prompt gives it.
      said.splice(-1, 0, { kind: "unlist_page", page: named });
    }
    if (reading.kind === "with_links") {
      const last = said.at(-1)?.kind;
      const isDoneWith = last === "move_page" || last === "rename_heading" || last === "remove_page";
      if (!isDoneWith) return refuse(words, "it does not say what to do with the links: write fix broken links");
    }
    if (reading.kind === "fix_them") {
      const { to } = reading;
      const fixed =
        looked?.kind === "replace_term" ? to !== undefined && { ...looked, to } : to === undefined && looked;
      if (!fixed) return refuse(words, "it does not say what to change: name it in this sentence");
      said.push(fixed);
    } else if (looked !== null) return refuse(lookedWords, onlyLooking);
    [looked, lookedWords] = reading.kind === "look" ? [reading.instruction, words] : [null, ""];
    if (reading.kind === "list_it") {
      if (added === null) return refuse(words, 'no page was added just before that "it" could mean');
      const { group } = reading;
      said.push({ kind: "list_page", page: added, ...(group === undefined ? {} : { group }) });
    }
    added = pageToBeListed(reading);
    if (said.length > instructionsMax) return refuse(words, `one prompt holds ${instructionsMax} instructions at most`);
  }
  if (looked !== null) return refuse(lookedWords, onlyLooking);
  const { instructions, unsaid } = withDeletions(said);
  if (unsaid) {
    const advice = `delete ${unsaid.page} and redirect it to another page`;
    return refuse(unsaid.words, `it does not say where its readers go: write ${advice}`);
  }
  if (instructions.length === 0) return refuse(prompt.trim(), "there is no instruction in it");
  const conflict = findConflict(instructions);
  if (conflict) return refuse(conflict.clause, conflict.reason);
  return { kind: "understood", instructions: distinct(listWhereAdded(instructions)) };
}

/** Adding a page already lists it. Listing it again would fail. */
function listWhereAdded(instructions: readonly Instruction[]): readonly Instruction[] {
  const kept: Instruction[] = [];
  for (const instruction of instructions) {
    const isPlain = instruction.kind === "list_page" && !instruction.before && !instruction.after;
    const index = isPlain
      ? kept.findIndex((earlier) => earlier.kind === "add_page" && earlier.path === instruction.page)
      : -1;
    const add = kept[index];
    if (!isPlain || add?.kind !== "add_page" || (add.group !== undefined && add.group !== instruction.group)) {
      kept.push(instruction);
    } else if (instruction.group !== undefined) kept[index] = { ...add, group: instruction.group };
  }
  return kept;
}

export function compileForm(form: Form): KnownForm {
  return { form, patterns: form.patterns.map(compilePattern) };
}

function refuse(clause: string, reason: string): Parsed {
  return { kind: "not_understood", clause, reason };
}

/** What "it" means in the next clause. */
function pageToBeListed(reading: Reading): string | null {
  const [first] = reading.kind === "orders" ? reading.instructions : [];
  return first?.kind === "add_page" && first.group === undefined ? first.path : null;
}

function readClause(whole: Clause, known: readonly KnownForm[]): Reading {
  const clause = withoutRestated(whole);
  if (clause.isQuestion) return { kind: "unclear", reason: "a question changes nothing: write it as an order" };
  // No form accepts such a word outside a name. Checking first keeps this true for future forms.
  for (const [index, token] of clause.tokens.entries()) {
    if (token.kind !== "word" || isRatherThan(token, clause.tokens[index + 1])) continue;
    if (negations.has(token.lower)) return { kind: "unclear", reason: `"${token.lower}" says what not to do` };
    if (conditions.has(token.lower))
      return { kind: "unclear", reason: `"${token.lower}" makes it depend on something` };
  }
  const readings = known.flatMap(({ form, patterns }) =>
    patterns.flatMap((pattern) =>
      matchPattern(pattern, clause.tokens, slotLengths).map((captures) => form.read(captures)),
    ),
  );
  const [reading, ...others] = distinct(readings.filter(({ kind }) => kind !== "unclear"));
  if (reading && others.length === 0) return reading;
  if (reading)
    return { kind: "unclear", reason: "it can be read in more than one way: put names and terms in quotation marks" };
  return readings[0] ?? unknownForm;
}

/** What a replacement does anyway: code stays as it is unless the order names it. */
const restated = compilePattern(
  `[,] (${[
    "[but] (leave|leaving|keep|keeping) [the|all|all the|any] code [samples|blocks|examples|snippets] (alone|untouched|unchanged|as is|as it is|as they are)",
    "[but] (not|except) in [the|any] code [samples|blocks|examples|snippets]",
    "without (touching|changing) [the|any] code [samples|blocks|examples|snippets]",
  ].join("|")})`,
);
const restatedTokensMax = 10;

function withoutRestated(clause: Clause): Clause {
  const [first] = clause.tokens;
  if (first?.kind !== "word" || !["replace", "change", "swap", "rename", "rebrand"].includes(first.lower))
    return clause;
  const isRestated = (length: number) => matchPattern(restated, clause.tokens.slice(-length), slotLengths).length > 0;
  const length = Array.from({ length: restatedTokensMax }, (_, index) => restatedTokensMax - index).find(isRestated);
  return length === undefined ? clause : { ...clause, tokens: clause.tokens.slice(0, -length) };
}

const unknownForm: Reading = { kind: "unclear", reason: "it is not among the instructions that the rules know" };

/**
 * A clause of a comment on a page. It is about this page if a form takes a place and the clause names none; a form without
 * one, such as a move, names its pages itself.
 */
function readOnPage(clause: Clause, page: Token, known: readonly KnownForm[]): Reading {
  const isSaid = (tokens: readonly Token[]) => matchPattern(anywhere, tokens, slotLengths).length > 0;
  const lengths = Array.from({ length: everywhereTokensMax }, (_, index) => index + 1);
  if (lengths.some((length) => isSaid(clause.tokens.slice(0, length)) || isSaid(clause.tokens.slice(-length)))) {
    return readClause(clause, known);
  }
  const place: readonly Token[] = [{ kind: "word", text: "in", lower: "in", start: page.start, end: page.start }, page];
  const readings = [
    [...place, ...clause.tokens],
    [...clause.tokens, ...place],
  ].map((tokens) => readClause({ ...clause, tokens }, known));
  const matched = readings.filter((reading) => reading !== unknownForm);
  return matched.find(({ kind }) => kind !== "unclear") ?? matched[0] ?? readClause(clause, known);
}

const anywhere = compilePattern(everywhere);
const everywhereTokensMax = 8;

/** "use X rather than Y" is an instruction; "rather" alone retracts something. */
function isRatherThan(token: Token, next: Token | undefined): boolean {
  return token.kind === "word" && token.lower === "rather" && next?.kind === "word" && next.lower === "than";
}

function wordsOf(clause: Clause, text: string): string {
  const first = clause.tokens[0];
  const last = clause.tokens.at(-1);
  if (!first || !last) return text.trim();
  return text.slice(first.start, last.end) + (clause.isQuestion ? "?" : "");
}

function distinct<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

/** A page to delete, before its redirect is known. */
interface Deletion {
  kind: "delete";
  page: string;
  /** As written. */
  words: string;
}

/** Joins each deletion with the prompt's redirect for its page. */
function withDeletions(said: readonly (Instruction | Deletion)[]): {
  instructions: readonly Instruction[];
  /** A deletion without a redirect. */
  unsaid?: Deletion;
} {
  const instructions: Instruction[] = [];
  const used = new Set<Instruction>();
  for (const one of said) {
    if (one.kind !== "delete") {
      instructions.push(one);
      continue;
    }
    const redirect = said.find((other) => other.kind === "add_redirect" && key(other.from) === key(one.page));
    if (redirect?.kind !== "add_redirect") return { instructions, unsaid: one };
    used.add(redirect);
    instructions.push({ kind: "remove_page", page: one.page, to: redirect.to });
  }
  return { instructions: instructions.filter((instruction) => !used.has(instruction)) };
}

const wordsMax = 300;

/** Shows how the rules understand an instruction while it is written. Runs nothing and reads nothing from the site. */
export function readPrompt(model: string, prompt: string): DashboardReading {
  if (model !== rulesModelName) return { kind: "free" };
  const parsed = parsePrompt(prompt);
  if (parsed.kind === "understood") {
    return {
      kind: "understood",
      orders: parsed.instructions.map((each) => shown(describeInstruction(each), wordsMax)),
    };
  }
  const { clause, reason } = parsed;
  return {
    kind: "not_understood",
    clause: shown(clause, wordsMax),
    reason: shown(reason, wordsMax),
    examples: nearestExamples(clause),
  };
}

const clauseCharactersMax = 200;
const reasonCharactersMax = 400;
const examplesMax = 2;
/** One example of each kind, if nothing is close. */
const general = [termForms, pageForms, contentForms, navigationForms].flatMap(([form]) => form?.example ?? []);

/** The refusal: what was not understood, why, the closest form, and how to use a language model instead. */
export function notUnderstood(input: { clause: string; reason: string }): AgentFault {
  return new AgentFault("instruction_not_understood", {
    publicMessage: [
      `Nothing was changed. The rules did not understand: «${shown(input.clause, clauseCharactersMax)}» (${shown(input.reason, reasonCharactersMax)}).`,
      `They know: ${nearestExamples(input.clause).join(" · ")}`,
      "For instructions in free words set a language model: EMEND_MODEL=<vendor>/<model>, or the project's model.",
    ].join("\n"),
  });
}

/** Examples for the verb that the clause may mean, closest first; otherwise one of each kind. */
export function nearestExamples(clause: string): readonly string[] {
  const words = lowerWords(clause.slice(0, 2_000));
  const [verbs, topics] = [meanings(words, "verbs"), meanings(words, "topics")];
  const first = meanings(words.slice(0, 1), "verbs");
  // Forms with the same meaning share their example.
  const examples = [...new Set(forms.map((form) => form.example))].filter((example) => !example.endsWith(":"));
  const scored = examples.flatMap((example) => {
    const [verb = "", ...others] = lowerWords(example.replaceAll(/"[^"]*"/g, ""));
    const isMeant =
      words.includes(verb) ||
      [...meanings([verb], "verbs")].some((one) => verbs.has(one)) ||
      (verbs.size === 0 && words.some((word) => isTypo(word, verb)));
    const isFirst = [verb, ...meanings([verb], "verbs")].some((one) => first.has(one) || one === words[0]);
    const about = [...meanings(others, "topics")];
    const score = about.reduce((sum, topic) => sum + (topics.has(topic) ? 2 : -1), isFirst ? 2 : 0);
    return isMeant ? [{ example, score }] : [];
  });
  const near = scored.toSorted((a, b) => b.score - a.score).map(({ example }) => example);
  return near.length > 0 ? near.slice(0, examplesMax) : general;
}

function lowerWords(text: string): readonly string[] {
  return (
    text
      .toLowerCase()
      .match(/\p{L}+|->|→/gu)
      ?.slice(0, 100) ?? []
  );
}

/** Whether a word differs by one wrong, missing, extra or swapped letter. */
function isTypo(word: string, right: string): boolean {
  if (right.length < 3 || Math.abs(word.length - right.length) > 1) return false;
  let start = 0;
  while (start < right.length && word[start] === right[start]) start += 1;
  let end = 0;
  while (end < right.length - start && end < word.length - start && word.at(-1 - end) === right.at(-1 - end)) end += 1;
  const [extra, missing] = [word.length - start - end, right.length - start - end];
  if (extra <= 1 && missing <= 1) return true;
  return extra === 2 && missing === 2 && word[start] === right[start + 1] && word[start + 1] === right[start];
}
