import { relay } from "../relay.ts";
import {
  buildSite,
  type Files,
  type Framework,
  frameworks,
  pathOf,
  type SiteModel,
  withBody,
  withPage,
} from "../site-model.ts";
import type { Answer, EvalTask, Expectation, Fact, Kind } from "../task.ts";

/** A task before it is cut to a framework. */
export interface Definition {
  kind: Kind;
  name: string;
  /** The site as it is found. */
  site?: SiteModel;
  context?: EvalTask["context"];
  prompt: string | ((framework: Framework) => string);
  followUps?: (framework: Framework) => readonly string[];
  rulesMustPass?: true;
  /** The sites that are right; absent: nothing may change. */
  right?: readonly SiteModel[];
  written?: WrittenText;
  tells: readonly RegExp[];
  canary?: string;
  cites?: string;
  /** Title and summary of two right answers. */
  words: readonly [Words, Words];
  sources?: readonly string[];
}

type Words = readonly [title: string, summary: string];

interface WrittenText {
  page: string;
  title: string;
  section?: string;
  facts: readonly Fact[];
  source: string;
  /** Two wordings that are right. */
  texts: readonly [string, string];
}

export function tasksOf(definitions: readonly Definition[]): readonly EvalTask[] {
  return definitions.flatMap((definition) => frameworks.map((framework) => taskOf(definition, framework)));
}

function taskOf(definition: Definition, framework: Framework): EvalTask {
  const { kind, name, site = relay, prompt, followUps, written, words } = definition;
  const files = buildSite(framework, site);
  const models = definition.right ?? [site];
  const trees = models.map((model) => buildSite(framework, model));
  const expected: Expectation = {
    trees,
    tells: definition.tells,
    ...(definition.canary !== undefined && { canary: definition.canary }),
    ...(definition.cites !== undefined && { cites: definition.cites }),
    ...(written && {
      written: [
        {
          path: pathOf(framework, written.page),
          facts: written.facts,
          source: written.source,
          ...(written.section !== undefined && { section: written.section }),
        },
      ],
    }),
  };
  const answer = (place: 0 | 1, tree: Files): Answer => ({
    name: `right, ${place === 0 ? "as the model has it" : "in another way"}`,
    files: tree,
    title: words[place][0],
    summary: words[place][1],
    ...(definition.sources && { sources: definition.sources }),
  });
  const texts = written?.texts.map((text) => buildSite(framework, withText(models[0] ?? site, written, text)));
  return {
    name: `${framework}: ${name}`,
    kind,
    framework,
    files,
    ...(definition.context && { context: definition.context }),
    prompt: typeof prompt === "string" ? prompt : prompt(framework),
    ...(followUps && { followUps: followUps(framework) }),
    rulesMustPass: definition.rulesMustPass ?? false,
    expected,
    right: [
      answer(0, texts?.[0] ?? trees[0] ?? files),
      answer(1, texts?.[1] ?? respelled(files, trees.at(-1) ?? files)),
    ],
  };
}

function withText(model: SiteModel, written: WrittenText, text: string): SiteModel {
  if (written.section === undefined) return withPage(model, written.page, { title: written.title, body: text });
  return withBody(model, written.page, (body) => `${body}\n## ${written.section}\n\n${text}`);
}

/** The changed files as another hand would write them. */
function respelled(before: Files, after: Files): Files {
  const entries = Object.entries(after).map(([path, text]) => {
    if (before[path] === text) return [path, text];
    if (path.endsWith(".json")) return [path, JSON.stringify(JSON.parse(text))];
    if (path.endsWith(".js")) return [path, text.replaceAll("'", '"')];
    return [path, text.replace(/^(\w+): ([^"\n]+)$/gm, '$1: "$2"').replace(/^- /gm, "* ")];
  });
  return Object.fromEntries(entries);
}
