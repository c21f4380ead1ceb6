import { rulesModelName } from "@emend/base/model-names.ts";
import type { DashboardReading } from "@emend/contract";
import { AgentFault } from "../faults.ts";
import { shown } from "../outcome.ts";
import { contentForms } from "./forms/contents.ts";
import { navigationForms } from "./forms/navigation.ts";
import { pageForms } from "./forms/pages.ts";
import { termForms } from "./forms/terms.ts";
import { describeInstruction } from "./instruction.ts";
import { isVerb, meant } from "./lexicon.ts";
import { type Names, namesIn, type SiteNames } from "./names.ts";
import { forms, parsePrompt } from "./parse-prompt.ts";

const wordsMax = 300;

/**
 * Shows how the rules understand an instruction while it is written. Runs nothing and reads nothing from the site: what only
 * the site can decide counts as understood.
 */
export function readPrompt(model: string, prompt: string, pages: readonly string[] = []): DashboardReading {
  if (model !== rulesModelName) return { kind: "free" };
  const alone = parsePrompt(prompt);
  const onSome = alone.kind === "understood" ? alone : parsePrompt(prompt, { names: anyNames });
  const parsed = onSome.kind === "understood" ? onSome : alone;
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
    examples: readingExamples(clause, pages),
  };
}

const readingExamplesMax = 5;

/** The closest, then one of each kind, with pages of the site. */
function readingExamples(clause: string, paths: readonly string[]): readonly string[] {
  const names = pageNames(paths);
  const rest = general.map((example) => exampleOn(example, clause, names));
  return [...new Set([...nearestExamples(clause, names), ...rest])].slice(0, readingExamplesMax);
}

/** The names of a site of which only the paths of its pages are known. */
export function pageNames(paths: readonly string[]): SiteNames {
  return { ...noNames, pages: paths.map((path) => ({ path, route: path.replace(/\.mdx?$/i, ""), title: null })) };
}

/** Takes for a page of the site whatever may be the title of one. */
const anyNames: Names = {
  meaning: (words) =>
    /^\p{Lu}\S*(?: \S+){0,3}$/u.test(words) || /^[\p{Ll}\d]+$/u.test(words)
      ? { pages: [words], isFolder: false, isGroup: false, headingOf: [] }
      : null,
};

const clauseCharactersMax = 200;
const reasonCharactersMax = 400;
const examplesMax = 2;

/** The refusal: what was not understood, why, the closest form, and how to use a language model instead. */
export function notUnderstood(input: { clause: string; reason: string; names?: SiteNames }): AgentFault {
  return new AgentFault("instruction_not_understood", {
    publicMessage: [
      `Nothing was changed. The rules did not understand: «${shown(input.clause, clauseCharactersMax)}» (${shown(input.reason, reasonCharactersMax)}).`,
      `They know: ${nearestExamples(input.clause, input.names).join(" · ")}`,
      "To use your own words, choose a language model in the project's settings (or EMEND_MODEL=<vendor>/<model> for all projects).",
    ].join("\n"),
  });
}

/** Examples of the forms that share most words with the clause, closest first; otherwise one of each kind. */
export function nearestExamples(clause: string, names: SiteNames = noNames): readonly string[] {
  const text = clause.slice(0, 2_000);
  const said = meant(text);
  const [first] = said;
  const scored = forms.map(({ example, ways }) => {
    const scores = ways.map(({ needs, may }) => {
      const hit = needs.filter((words) => words.some((word) => said.has(word)));
      const hits = hit.flat().some(isVerb) ? hit.length : 0;
      const isFirst = first !== undefined && needs[0]?.includes(first) === true;
      const also = [...may].filter((word) => said.has(word)).length;
      return hits === 0 ? 0 : 2 * hits - (needs.length - hits) + (isFirst ? 2 : 0) + also / 4;
    });
    const [verb] = meant(example);
    return { example, score: Math.max(...scores) + (verb === first && Math.max(...scores) > 0 ? 2 : 0) };
  });
  const near = scored.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
  const examples = near.length > 0 ? near.map(({ example }) => example) : general;
  const onSite = examples.map((example) => exampleOn(example, text, names));
  return [...new Set(onSite)].slice(0, near.length > 0 ? examplesMax : undefined);
}

const noNames: SiteNames = { pages: [], folders: [], groups: [], headings: [] };
/** One example of each kind, if nothing is close. */
const general = [termForms, pageForms, contentForms, navigationForms].flatMap(([form]) => form?.example ?? []);

/** An example with names that the site has, best with those that the text has too. */
export function exampleOn(example: string, text = "", names: SiteNames = noNames): string {
  const { pages, groups, headings } = namesIn(text, names);
  const heading = headings[0];
  const paths = pages.map(({ path }) => path.replace(/\.mdx?$/i, ""));
  const page = example.includes("{heading:") && heading ? heading.page.replace(/\.mdx?$/i, "") : paths[0];
  const fill: Readonly<Record<string, string | undefined>> = {
    page,
    other: paths.find((path) => path !== page),
    group: groups[0],
    heading: heading?.id,
  };
  // A name that the site does not have would mislead.
  const isKnown = names.pages.length > 0;
  return example.replaceAll(
    /\{(\w+):([^}]*)\}/g,
    (_, kind: string, otherwise: string) => fill[kind] ?? (isKnown ? "…" : otherwise),
  );
}
