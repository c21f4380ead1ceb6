import type { PullRequestCheck, PullRequestDraft } from "../forge/forge.ts";
import { readTemplate } from "../lib/read-template.ts";
import { redactSecrets } from "../secrets/secrets-in.ts";
import type { MovedNotice } from "./moved-notice.ts";
import type { CheckFigures, PublishDeps, PublishInput } from "./publication.ts";
import { pullRequestBody, type TouchedFile } from "./pull-request-body.ts";
import { quietLine } from "./quiet-text.ts";

const titleCharactersMax = 200;

/** For repositories without drafts: the title says that the change needs a review. */
const needsReview = "[needs review] ";

/** The texts of the pull request for this change. */
export async function draftPullRequest(
  deps: PublishDeps,
  input: PublishInput & { draftsSupported?: false },
): Promise<PullRequestDraft> {
  const checks = listChecks(input.checks);
  const template = await readTemplate(deps.mirror.treeAt(input.base.commit));
  const isMarked = input.draft && input.draftsSupported === false;
  const title = titleOf(input);
  return {
    head: input.job.branch,
    base: input.base.ref,
    title: isMarked ? needsReview + title : title,
    body: pullRequestBody({
      ...input,
      job: await withoutSecrets(input.job),
      template: template?.text ?? null,
      files: await listTouchedFiles(deps, input),
      checks: deps.forge.showsChecks ? [] : checks,
      introduced: input.checks.introduced,
      findingsFirst: isMarked,
      ...(input.baseConflict.length > 0 && {
        moved: movedOf(input),
      }),
    }),
    draft: input.draft && !isMarked,
    checks,
  };
}

export function titleOf({ pullTitle, title }: PublishInput): string {
  return quietLine(pullTitle ?? title, titleCharactersMax) || "Update documentation";
}

export function movedOf({ base, whole, baseConflict }: PublishInput): MovedNotice {
  return { branch: base.ref, commit: whole?.fork ?? base.commit, paths: baseConflict };
}

/** A pull request may have more readers than the job, so secrets are removed from its texts. */
export async function withoutSecrets(job: PublishInput["job"]): Promise<PublishInput["job"]> {
  const [prompt = "", ...followUps] = await Promise.all(
    [job.prompt, ...job.followUps].map((text) => redactSecrets(text)),
  );
  return { ...job, prompt, followUps };
}

export function listChecks(figures: CheckFigures): readonly PullRequestCheck[] {
  const errors = figures.introduced.filter((finding) => finding.severity === "error").length;
  const others = figures.introduced.length - errors;
  return [
    {
      name: "Policy",
      verdict: "passed",
      detail: "All changed paths are allowed",
    },
    {
      name: "New findings",
      verdict: errors > 0 ? "flagged" : "passed",
      detail:
        figures.introduced.length === 0
          ? "no new problems"
          : `${count(errors, "error")}, ${count(others, "warning or note", "warnings or notes")}`,
    },
    {
      name: "Findings on the whole site",
      verdict: figures.findingsAfter > figures.findingsBefore ? "flagged" : "passed",
      detail: `${figures.findingsBefore} before, ${figures.findingsAfter} after, ${figures.fixed.length} fixed`,
    },
    ...(figures.links === undefined || figures.links.unjudged === 0 ? [] : [unjudged(figures.links)]),
  ];
}

function unjudged(links: { total: number; unjudged: number }): PullRequestCheck {
  const detail = `${links.unjudged} of ${count(links.total, "link")} inside the site could not be checked; only the site's build can tell`;
  return { name: "Links not checked", verdict: links.unjudged * 2 > links.total ? "flagged" : "passed", detail };
}

export async function listTouchedFiles(deps: PublishDeps, input: PublishInput): Promise<readonly TouchedFile[]> {
  const { base, entries } = input.whole ?? { base: input.base.commit, entries: input.entries };
  const before = new Set((await deps.mirror.treeAt(base).list()).map((entry) => entry.path));
  const people = new Set(input.peoplePaths);
  return entries.map(({ path, content }) => ({
    path,
    kind: content === null ? "deleted" : before.has(path) ? "changed" : "added",
    ...(people.has(path) && { byPeople: true }),
  }));
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
