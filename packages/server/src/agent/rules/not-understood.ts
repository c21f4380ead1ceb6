import { AppError } from "../../errors.ts";
import { shown } from "../shown.ts";
import { contentForms } from "./forms/contents.ts";
import { navigationForms } from "./forms/navigation.ts";
import { pageForms } from "./forms/pages.ts";
import { termForms } from "./forms/terms.ts";
import { forms } from "./forms.ts";
import { meanings } from "./synonyms.ts";

const clauseCharactersMax = 200;
const reasonCharactersMax = 400;
const examplesMax = 2;
/** One example of each kind, if nothing is close. */
const general = [termForms, pageForms, contentForms, navigationForms].flatMap(([form]) => form?.example ?? []);

/** The refusal: what was not understood, why, the closest form, and how to use a language model instead. */
export function notUnderstood(input: { clause: string; reason: string }): AppError {
  return new AppError("instruction_not_understood", {
    publicMessage: [
      `Nothing was changed. The rules did not understand: «${shown(input.clause, clauseCharactersMax)}» (${shown(input.reason, reasonCharactersMax)}).`,
      `They know: ${nearestExamples(input.clause).join(" · ")}`,
      "For instructions in free words set a language model: EMEND_MODEL=<vendor>/<model>, or the project's model.",
    ].join("\n"),
  });
}

/** Examples for the verb that the clause may mean, closest first; otherwise one of each kind. */
export function nearestExamples(clause: string): readonly string[] {
  const words = wordsOf(clause.slice(0, 2_000));
  const [verbs, topics] = [meanings(words, "verbs"), meanings(words, "topics")];
  const first = meanings(words.slice(0, 1), "verbs");
  // Forms with the same meaning share their example.
  const examples = [...new Set(forms.map((form) => form.example))].filter((example) => !example.endsWith(":"));
  const scored = examples.flatMap((example) => {
    const [verb = "", ...others] = wordsOf(example.replaceAll(/"[^"]*"/g, ""));
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

function wordsOf(text: string): readonly string[] {
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
