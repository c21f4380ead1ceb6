import { type Clause, splitClauses, splitPlace } from "./clauses.ts";
import { findConflict, key } from "./conflicts.ts";
import type { Form } from "./form.ts";
import { contentForms } from "./forms/contents.ts";
import { navigationForms } from "./forms/navigation.ts";
import { pageForms } from "./forms/pages.ts";
import { termForms } from "./forms/terms.ts";
import type { Instruction } from "./instruction.ts";
import type { Names } from "./names.ts";
import { isReason, type Known, readClause, readOnPage, splitKept, withPage } from "./read-clause.ts";
import { type Token, tokenize } from "./tokens.ts";

/** Every form of an instruction that the rules know. */
export const forms: readonly Form[] = [...termForms, ...pageForms, ...contentForms, ...navigationForms];

type Parsed =
  | { kind: "understood"; instructions: readonly Instruction[] }
  /** `clause`: the words that were not understood, as written. */
  | { kind: "not_understood"; clause: string; reason: string };

const instructionsMax = 50;
const onlyLooking = "looking changes nothing: write fix broken links, or replace one term with another";

/** Parses a prompt completely or not at all. Never throws. Its work is bounded by the prompt's length. */
export function parsePrompt(
  prompt: string,
  { names = null, known = forms }: { names?: Names | null; known?: readonly Form[] } = {},
): Parsed {
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
  let [looked, lookedWords]: [readonly Instruction[] | null, string] = [null, ""];
  let page: Token | null = null;
  /** What "it" means. A statement about a page must be followed by an order that uses it. */
  let it: { page: string; statement?: string } | null = null;
  const context: Known = { text: cut.text, names, forms: known };
  for (const whole of splitClauses(cut.tokens, names).flatMap(splitKept)) {
    const placed = splitPlace(whole, cut.text);
    if (placed) page = placed.page;
    const clause = placed?.rest ?? whole;
    if (placed && clause.tokens.length === 0) continue;
    const words = wordsOf(clause, cut.text);
    let reading = page === null ? readClause(clause, context) : readOnPage(clause, page, context);
    const named = reading.kind === "unclear" && it ? withPage(clause, it.page) : null;
    if (named) reading = readClause(named, context);
    if (reading.kind === "unclear" && clause.isReason && isReason(clause)) continue;
    if (reading.kind === "unclear") return refuse(words, reading.reason);
    if (it?.statement !== undefined && !named) return refuse(it.statement, "it does not say what to do");
    if (reading.kind === "orders") {
      const [first] = reading.instructions;
      const last = said.at(-1);
      // Before a move, the page still has the name that the prompt gives it.
      const isBefore = named && first?.kind === "unlist_page" && last?.kind === "move_page";
      said.splice(isBefore ? -1 : said.length, 0, ...reading.instructions);
    }
    if (reading.kind === "delete")
      said.push(...reading.pages.map((one) => ({ kind: "delete" as const, page: one, words })));
    if (reading.kind === "redirect_it") {
      const last = said.at(-1);
      if (last?.kind !== "delete") return refuse(words, "no page was deleted just before that it could be about");
      for (const [at, one] of said.entries()) {
        const isMeant = one.kind === "delete" && one.words === last.words;
        if (isMeant) said[at] = { kind: "remove_page", page: one.page, to: reading.to };
      }
    }
    if (reading.kind === "text") {
      const last = said.pop();
      if (last?.kind !== "add_page" || last.content !== "") return refuse(words, "no page was added just before");
      said.push({ ...last, content: reading.content });
    }
    if (reading.kind === "keeps" && !isKeptBy(said.at(-1), reading.what))
      return refuse(words, "it says what not to do");
    if (reading.kind === "with_links") {
      const last = said.at(-1)?.kind;
      const isDoneWith = last === "move_page" || last === "rename_heading" || last === "remove_page";
      if (!isDoneWith) return refuse(words, "it does not say what to do with the links: write fix broken links");
    }
    if (reading.kind === "fix_them") {
      const { to } = reading;
      const isTerm = looked?.[0]?.kind === "replace_term";
      if (!looked || isTerm !== (to !== undefined))
        return refuse(words, "it does not say what to change: name it in this sentence");
      said.push(...looked.map((one) => (one.kind === "replace_term" && to !== undefined ? { ...one, to } : one)));
    } else if (looked !== null) return refuse(lookedWords, onlyLooking);
    [looked, lookedWords] = reading.kind === "look" ? [reading.instructions, words] : [null, ""];
    it = reading.kind === "about" ? { page: reading.page, statement: words } : pageOf(said.at(-1));
    if (said.length > instructionsMax) return refuse(words, `one prompt holds ${instructionsMax} instructions at most`);
  }
  if (it?.statement !== undefined) return refuse(it.statement, "it does not say what to do");
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

/** Whether an instruction leaves something alone anyway. */
function isKeptBy(instruction: Instruction | Deletion | undefined, what: string): boolean {
  switch (instruction?.kind) {
    case "replace_term":
      return what === "code" && !instruction.includeCode;
    case "unlist_page":
    case "list_page":
      return what === "page" || what === "file";
    case "fix_links":
      return what === "links" && instruction.only === "anchors";
    case "move_page":
      return what === "old";
    default:
      return false;
  }
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

function refuse(clause: string, reason: string): Parsed {
  return { kind: "not_understood", clause, reason };
}

/** What "it" means in the next clause. */
function pageOf(instruction: Instruction | Deletion | undefined): { page: string } | null {
  switch (instruction?.kind) {
    case "add_page":
      return { page: instruction.path };
    case "move_page":
      return { page: instruction.from };
    case "delete":
    case "unlist_page":
    case "set_front_matter":
      return { page: instruction.page };
    default:
      return null;
  }
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
