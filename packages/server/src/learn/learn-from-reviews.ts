import type { Logger } from "@emend/base/logger.ts";
import type { Forge } from "@emend/forges";
import { authorOf } from "@emend/publish";
import { createOverlay, type Mirrors } from "@emend/tree";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import type { Pool } from "../db/pool.ts";
import { nextSuggestion, type Suggestion } from "./next-suggestion.ts";
import { readLessons } from "./read-lessons.ts";

export interface LearnDeps {
  pool: Pool;
  log: Logger;
  mirrors: Mirrors;
  openForge(project: Project): Promise<Forge>;
  jobUrl(jobId: string): string;
}

const guidancePath = ".emend/instructions.md";
const casesShownMax = 10;

/**
 * Reads what people changed in pull requests of jobs, which ones they refused, and what they said there. Of what is more
 * than one page's matter, Emend suggests a line for the project's guidance, as a pull request of its own: once, and one
 * at a time.
 */
export async function learnFromReviews(deps: LearnDeps, projectId: string, signal: AbortSignal): Promise<void> {
  const project = await getProject(deps.pool, projectId);
  if (!project?.settings.suggestRules) return;
  const forge = await deps.openForge(project);
  const mirror = await deps.mirrors.open(project.id);
  const remote = await forge.gitRemote(signal);
  // Pinned as for a job, so that nothing is collected while it is read.
  const pin = `lessons_${project.id}`;
  try {
    const base = await mirror.fetchBase({ remote, jobId: pin, baseRef: project.baseRef }, signal);
    const tree = mirror.treeAt(base.commit);
    const readPage = async (path: string) => (await tree.read(path).catch(() => null))?.toString() ?? null;
    await readLessons(deps.pool, project.id, { readPage, conversation: forge.conversation }, signal);
    const now = (await readPage(guidancePath)) ?? "";
    const suggestion = await nextSuggestion(deps.pool, project.id, now, (number) =>
      forge.readPullRequest(number, signal).then((pull) => pull?.state === "open"),
    );
    if (!suggestion) return;
    const overlay = await createOverlay(tree);
    await overlay.set(
      guidancePath,
      Buffer.from(`${now === "" || now.endsWith("\n") ? now : `${now}\n`}${suggestion.line}\n`),
    );
    const title = `Suggest a rule: ${suggestion.line.replace(/^- /, "")}`;
    const author = authorOf(project.settings.commit);
    const entries = overlay.entries();
    const commit = { jobId: pin, base: base.commit, entries, message: title, author, date: suggestion.createdAt };
    const { commitId } = await mirror.commit(commit, signal);
    const { branch } = suggestion;
    const pushed = await mirror.push({ remote, branch, commit: commitId, expected: null }, signal);
    // Tried again after the next merge.
    if (pushed.kind === "rejected")
      return deps.log.warn({ projectId, reason: pushed.reason }, "could not suggest a rule");
    const [earlier] = await forge.findPullRequests(
      { head: branch, base: base.ref, since: suggestion.createdAt },
      signal,
    );
    const body = bodyOf(deps, suggestion);
    const opened =
      earlier === undefined
        ? await forge.createPullRequest({ head: branch, base: base.ref, title, body, draft: false, checks: [] }, signal)
        : { kind: "created" as const, pullRequest: earlier };
    // Refused, for example because an earlier attempt was carried out late: the next look finds it.
    if (opened.kind !== "created") return;
    await deps.pool.query("update rule_suggestions set number = $3 where project_id = $1 and line = $2", [
      project.id,
      suggestion.line,
      opened.pullRequest.number,
    ]);
    deps.log.info({ projectId, number: opened.pullRequest.number }, "suggested a rule");
  } finally {
    await mirror.release(pin);
  }
}

function bodyOf({ jobUrl }: LearnDeps, { why, cases }: Suggestion): string {
  return [
    `${why} Merge this pull request to have Emend follow the rule from now on, or close it: Emend does not suggest it again.`,
    "",
    ...cases.slice(-casesShownMax).map(({ jobId, path }) => {
      const place = path === "" ? "" : `\`${path.replaceAll("`", "")}\` in `;
      return `- ${place}[a job](${jobUrl(jobId)})`;
    }),
  ].join("\n");
}
