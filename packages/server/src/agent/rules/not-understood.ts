import { AppError } from "../../errors.ts";
import { shown } from "../shown.ts";
import { contentForms } from "./forms/contents.ts";
import { navigationForms } from "./forms/navigation.ts";
import { pageForms } from "./forms/pages.ts";
import { termForms } from "./forms/terms.ts";
import { forms } from "./forms.ts";

const clauseCharactersMax = 200;
const reasonCharactersMax = 400;
const examplesMax = 2;
/** One of each kind, for words that are near to none. */
const general = [termForms, pageForms, contentForms, navigationForms].flatMap(([form]) => form?.example ?? []);

/** The refusal: what was not understood, why, the nearest form that is, and how to have a language model instead. */
export function notUnderstood(input: { clause: string; reason: string }): AppError {
  return new AppError("instruction_not_understood", {
    publicMessage: [
      `Nothing was changed. The rules did not understand: «${shown(input.clause, clauseCharactersMax)}» (${shown(input.reason, reasonCharactersMax)}).`,
      `They know: ${nearestExamples(input.clause).join(" · ")}`,
      "For instructions in free words set a language model: EMEND_MODEL=<vendor>/<model>, or the project's model.",
    ].join("\n"),
  });
}

/** The forms that share the verb and most words with the clause; where none does, one of each kind. */
export function nearestExamples(clause: string): readonly string[] {
  const words = wordsOf(clause.slice(0, 2_000));
  const scored = forms
    .filter((form) => !form.example.endsWith(":"))
    .map((form) => ({ example: form.example, score: scoreOf(words, form.example) }))
    .sort((a, b) => b.score - a.score);
  const near = [...new Set(scored.filter(({ score }) => score > 0).map(({ example }) => example))];
  // Forms of one meaning share their example.
  return near.length > 0 ? near.slice(0, examplesMax) : general;
}

function scoreOf(words: readonly string[], example: string): number {
  const [verb = "", ...others] = wordsOf(example.replaceAll(/"[^"]*"/g, ""));
  const forVerb = words.includes(verb) ? 3 : words.some((word) => isTypo(word, verb)) ? 2 : 0;
  return forVerb === 0 ? 0 : forVerb + others.filter((word) => word.length > 3 && words.includes(word)).length;
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .toLowerCase()
      .match(/\p{L}+/gu)
      ?.slice(0, 100) ?? []
  );
}

/** One letter wrong, missing, added or two swapped. */
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
