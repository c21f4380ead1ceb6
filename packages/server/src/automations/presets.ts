import { type PresetName, presetNames } from "@emend/contract";
import { listKnowledgeServers } from "../accounts/projects/knowledge-servers.ts";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import { requireProject } from "../accounts/projects/projects.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { Trigger } from "./automation.ts";
import type { AutomationText } from "./check-automation.ts";

interface Preset {
  /** For people. */
  title: string;
  description: string;
  /** Given the repository that it watches, where it watches one. */
  trigger(repository: string): Trigger;
  watches: "source" | "nothing" | "docs";
  prompt: string;
  /** Its jobs ask the project's knowledge servers. Without an allowed tool there, a project cannot have it. */
  asksKnowledge?: true;
  /** For projects whose model is `emend/rules`, which takes fixed sentences alone. Without it, they cannot have the preset. */
  promptOfRules?: string;
}

const noPaths = { branches: [], include: [], exclude: [] };

/** Ready-made automations: each is an ordinary one once it was added, and can be edited. */
export const presets: Readonly<Record<PresetName, Preset>> = {
  "stale-references": {
    title: "Correct outdated names",
    description: "After a push to the code: correct what pages say about names that the push removed or renamed.",
    trigger: (repository) => ({ kind: "push", repository, ...noPaths, tags: [] }),
    watches: "source",
    prompt: `The code in {{repository}} changed. Find what these commits removed or renamed: functions, options, flags,
environment variables, configuration keys, routes and files. Correct every page that still names it. Use the new name where
there is one. Change nothing else, and cite the lines of code that you rely on.
{{commits}}{{changed_files}}`,
  },
  "merged-code": {
    title: "Update docs for merged code",
    description: "After a pull request of the code is merged: bring the pages that it concerns up to date.",
    trigger: (repository) => ({ kind: "pull_request", repository, on: ["merged"], ...noPaths }),
    watches: "source",
    prompt: `These pull requests were merged in {{repository}}. Bring the pages that they concern up to date: changed behaviour,
new and removed options, changed defaults. If no page is concerned, change nothing. Cite the lines of code that you rely on.
{{pull_request}}{{title}}{{description}}{{issues}}{{changed_files}}{{diff}}`,
  },
  links: {
    title: "Fix broken links every week",
    description:
      "On Mondays at 9:00 UTC: fix broken links. With a language model, also add pages to the navigation that it does not list.",
    trigger: () => ({ kind: "cron", expression: "0 9 * * 1", timezone: "UTC" }),
    watches: "nothing",
    prompt: `Fix broken links and anchors. Then add every page that no navigation lists to the navigation, in the group where it
fits. Leave out pages that are hidden on purpose. Change nothing else.`,
    promptOfRules: "Fix broken links.",
  },
  screenshots: {
    title: "Keep screenshots fresh",
    description: "After a push to this repository: take its screenshots again, and propose those that look different.",
    trigger: (repository) => ({ kind: "push", repository, ...noPaths, tags: [] }),
    watches: "docs",
    prompt: `Take the screenshots again with the tool renew_screenshots. Change nothing else.`,
    promptOfRules: "Renew screenshots.",
  },
  changelog: {
    title: "Write the changelog",
    description: "After a pull request of the code is merged: add an entry to the changelog page.",
    trigger: (repository) => ({ kind: "pull_request", repository, on: ["merged"], ...noPaths }),
    watches: "source",
    prompt: `Add one entry for each of these merged pull requests of {{repository}} to the changelog page of the docs, newest first,
in the form that the page has. Say what changes for users, in one sentence. Leave out changes that users do not notice.
Today is {{date}}.
{{pull_request}}{{title}}{{description}}{{diff}}`,
  },
  translations: {
    title: "Keep translations in step",
    description: "After a push to the docs: bring the translations of changed pages in step with their source page.",
    trigger: (repository) => ({ kind: "push", repository, ...noPaths, tags: [] }),
    watches: "docs",
    prompt: `These files of the docs changed. For each page that has translations, bring the translations in step with it: the same
headings, code and links. Translate only what changed, and change no page in the source language. If no page has a translation,
change nothing.
{{changed_files}}{{commits}}`,
  },
  "support-tickets": {
    title: "Answer support tickets in the docs",
    description: "On Mondays at 9:00 UTC: find last week's tickets that the docs should have answered.",
    trigger: () => ({ kind: "cron", expression: "0 9 * * 1", timezone: "UTC" }),
    watches: "nothing",
    asksKnowledge: true,
    prompt: `Today is {{date}}. Ask the knowledge tools for the support tickets that were solved in the last seven days. Choose the
questions that two or more customers asked and that the docs do not answer, or answer wrongly. For each, add or correct the
answer on the page where a reader would look for it, at most five pages in all. Write only what the docs' own pages or code
support, and cite it; a ticket shows what is asked, and is no proof of an answer. Copy no names, addresses or other data of
customers. If no question is left, change nothing.`,
  },
  "release-issues": {
    title: "Write the changelog from issues",
    description: "After a version tag of the code: add the release's issues to the changelog page.",
    trigger: (repository) => ({ kind: "push", repository, ...noPaths, tags: ["v*"] }),
    watches: "source",
    asksKnowledge: true,
    prompt: `{{repository}} has the new version {{tag}}. Ask the knowledge tools for the issues that belong to this release: those
that its commits name, and those that are assigned to it. Add the release to the changelog page of the docs, in the form that the
page has. Say for each issue what changes for users, in one sentence, and leave out what users do not notice. Today is {{date}}.
{{commits}}`,
  },
};

/** The presets, each with the reason why the project cannot have it. */
export async function listPresets(
  deps: { db: Queryable; defaultModel: string },
  projectId: string,
): Promise<readonly { name: string; title: string; description: string; problem: string | null }[]> {
  const isRules = await usesRules(deps, projectId);
  const knows = await hasKnowledge(deps.db, projectId);
  return Object.entries<Preset>(presets).map(([name, { title, description, promptOfRules, asksKnowledge }]) => {
    const lacksModel = isRules && promptOfRules === undefined;
    const problem = lacksModel ? "Needs a language model" : asksKnowledge && !knows ? "Needs a knowledge server" : null;
    return { name, title, description, problem };
  });
}

/** Whether a project's jobs may call a tool of a knowledge server. */
async function hasKnowledge(db: Queryable, projectId: string): Promise<boolean> {
  return (await listKnowledgeServers(db, projectId)).some(({ tools }) => tools.length > 0);
}

async function usesRules(
  { db, defaultModel }: { db: Queryable; defaultModel: string },
  projectId: string,
  model?: string | null,
): Promise<boolean> {
  const { settings } = await requireProject(db, projectId);
  return (model ?? allowedModels(settings, defaultModel)[0]) === "emend/rules";
}

/** An automation's text from a preset. `repository`: the code that it watches; may be left out where the project has one. */
export async function fromPreset(
  deps: { db: Queryable; defaultModel: string },
  projectId: string,
  given: {
    preset: string;
    repository?: string | undefined;
    model?: string | null | undefined;
    /** Takes the place of the preset's. */
    prompt?: string | undefined;
  },
): Promise<AutomationText> {
  const preset = presetNames.includes(given.preset as PresetName) ? presets[given.preset as PresetName] : undefined;
  if (!preset) {
    throw invalid(`Unknown preset "${given.preset.slice(0, 100)}". Presets: ${presetNames.join(", ")}.`);
  }
  const isRules = await usesRules(deps, projectId, given.model);
  const prompt = given.prompt ?? (isRules ? preset.promptOfRules : preset.prompt);
  if (prompt === undefined) {
    throw invalid(
      `The preset "${given.preset}" needs a language model, and emend/rules follows fixed instructions. Choose another model for the project or for the automation.`,
    );
  }
  if (preset.asksKnowledge && !(await hasKnowledge(deps.db, projectId))) {
    throw invalid(
      `The preset "${given.preset}" asks a knowledge server, and the project allows no tool of one. Add one: emend project knowledge add`,
    );
  }
  const repository = preset.watches === "source" ? await sourceOf(deps.db, projectId, given.repository) : ".";
  return { name: preset.title, trigger: preset.trigger(repository), prompt, model: null };
}

async function sourceOf(db: Queryable, projectId: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const { rows } = await db.query<{ name: string }>(
    "select name from context_repositories where project_id = $1 order by name",
    [projectId],
  );
  const [only, ...others] = rows;
  if (only && others.length === 0) return only.name;
  if (!only) throw invalid("This preset watches a code repository. Add a context repository to the project first.");
  throw invalid(`Name the context repository that the preset watches: ${rows.map(({ name }) => name).join(", ")}.`);
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
