import { mention } from "@emend/forges";
import { type Lesson, replacementOf } from "./find-lessons.ts";

/** What a comment on a job's pull request says about more than the lines that it is about. */
export interface CommentLessons {
  /** "Write X, not Y", in the many ways in which people say it. */
  wordings: readonly Omit<Lesson, "path">[];
  /** Sentences that ask for something always or never. */
  rules: readonly string[];
  /** The lines that its author would write instead. */
  suggested: string;
}

const charactersMax = 20_000;
const ruleCharactersMax = 200;
const quoted = '["“”`]([^"“”`\\n]{2,60})["“”`]';
const byFirst = new RegExp(`${quoted},? (?:instead of|rather than|not) ${quoted}`, "gi");
const replacedFirst = [
  new RegExp(`${quoted} ?(?:→|->|=>|should be|must be) ?${quoted}`, "gi"),
  new RegExp(`(?:replace|change|rename) ${quoted} (?:with|by|to) ${quoted}`, "gi"),
  new RegExp(`not ${quoted},? but ${quoted}`, "gi"),
];
const standing = /^(?:please )?(?=(?:always|never|from now on|(?:we|emend should|emend must) (?:always|never))\b)/i;

export function readCommentLessons(text: string): CommentLessons {
  const body = text.replaceAll("\r", "").slice(0, charactersMax);
  const suggested = [...body.matchAll(/^(`{3,})suggestion[^\n]*\n([\s\S]*?)^\1/gm)].map(([, , lines]) => lines ?? "");
  // Neither code nor what somebody else wrote.
  const own = body.replaceAll(/^(`{3,})[\s\S]*?^\1$/gm, "").replaceAll(/^>.*$/gm, "");
  const pairs = [
    ...[...own.matchAll(byFirst)].map(([, by = "", replaced = ""]) => [replaced, by]),
    ...replacedFirst.flatMap((form) => [...own.matchAll(form)].map(([, replaced = "", by = ""]) => [replaced, by])),
  ];
  return {
    wordings: pairs.flatMap(([replaced = "", by = ""]) => replacementOf(replaced.split(" "), by.split(" ")) ?? []),
    rules: own.split(/(?<=[.!?])\s+|\n+/).flatMap((sentence) => ruleOf(sentence)),
    suggested: suggested.join("\n"),
  };
}

/** A line of a Markdown list, so it can neither call people nor point elsewhere. */
function ruleOf(sentence: string): readonly string[] {
  const said = sentence.replace(mention, "").trim();
  if (!standing.test(said) || said.length > ruleCharactersMax || /[@#<>[\]\\]|:\/\/|\p{C}/u.test(said)) return [];
  const rule = said.replace(standing, "").replace(/[.!]*$/, ".");
  return rule.split(/\s+/).length < 3 ? [] : [rule.charAt(0).toUpperCase() + rule.slice(1)];
}
