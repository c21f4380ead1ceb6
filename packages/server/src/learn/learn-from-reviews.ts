import { hash } from "node:crypto";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { Logger } from "@emend/base/logger.ts";
import type { Forge } from "@emend/forges";
import { createOverlay, type Mirrors } from "@emend/tree";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { authorOf } from "../publish/publication.ts";
import { findLessons } from "./find-lessons.ts";

export interface LearnDeps {
  pool: Pool;
  log: Logger;
  mirrors: Mirrors;
  openForge(project: Project): Promise<Forge>;
  jobUrl(jobId: string): string;
}

const guidancePath = ".emend/instructions.md";
const jobsMax = 20;
/** So many jobs must have been corrected in the same way: one is a matter of taste. */
const casesMin = 3;
const casesShownMax = 10;

/**
 * Reads what people changed in merged pull requests of jobs. Where they replaced the same words in several, Emend
 * suggests a line for the project's guidance, as a pull request of its own: once, and one at a time.
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
    await readLessons(
      deps.pool,
      project.id,
      async (path) => (await tree.read(path).catch(() => null))?.toString() ?? null,
    );
    const now = (await tree.read(guidancePath).catch(() => null))?.toString() ?? "";
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
    const body = await bodyOf(deps, project.id, suggestion);
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

/** Each merged job once. */
async function readLessons(
  pool: Pool,
  projectId: string,
  readPage: (path: string) => Promise<string | null>,
): Promise<void> {
  const { rows } = await pool.query<{ id: string; diff: Buffer | null }>(
    `select id, diff from jobs
     where project_id = $1 and not lessons_read and pull_request ->> 'state' = 'merged' order by id limit $2`,
    [projectId, jobsMax],
  );
  for (const { id, diff } of rows) {
    const patch = diff === null ? "" : (await promisify(inflate)(diff)).toString("utf8");
    const lessons = await findLessons(patch, readPage);
    await inTransaction(pool, async (client) => {
      const { rowCount } = await client.query(
        "update jobs set lessons_read = true where id = $1 and not lessons_read",
        [id],
      );
      if (rowCount !== 1) return;
      for (const { path, replaced, by, next } of lessons) {
        await client.query(
          "insert into review_lessons (project_id, job_id, path, replaced, by_text, next_word) values ($1, $2, $3, $4, $5, $6) on conflict do nothing",
          [projectId, id, path, replaced, by, next],
        );
      }
    });
  }
}

interface Suggestion {
  line: string;
  branch: string;
  createdAt: Date;
  replaced: string;
  by: string;
}

/** One that began and is not open yet, or a new one. Null: there is none, or people have not decided about the last. */
async function nextSuggestion(
  pool: Pool,
  projectId: string,
  guidance: string,
  isOpen: (number: number) => Promise<boolean>,
): Promise<Suggestion | null> {
  const { rows: asked } = await pool.query<{ number: number | null }>(
    "select number from rule_suggestions where project_id = $1 order by created_at desc limit 1",
    [projectId],
  );
  const last = asked[0]?.number;
  if (typeof last === "number" && (await isOpen(last))) return null;
  const { rows } = await pool.query<{ replaced: string; by: string; next: readonly string[] }>(
    `select replaced, by_text as by, array_agg(distinct next_word) as next from review_lessons found where project_id = $1
       -- Where people also did the opposite, it is no rule.
       and not exists (select from review_lessons other where other.project_id = $1
                         and other.replaced = found.by_text and other.by_text = found.replaced)
     group by replaced, by_text having count(distinct job_id) >= $2 order by count(*) desc, replaced, by_text`,
    [projectId, casesMin],
  );
  for (const { replaced, by, next } of rows) {
    const line = lineOf(replaced, by, next);
    if (guidance.split("\n").includes(line)) continue;
    const branch = `emend/rule-${hash("sha256", `${projectId}\n${line}`, "hex").slice(0, 16)}`;
    const { rows: stored } = await pool.query<{ branch: string; createdAt: Date; number: number | null }>(
      `insert into rule_suggestions (project_id, line, branch) values ($1, $2, $3)
       on conflict (project_id, line) do update set line = excluded.line
       returning branch, created_at as "createdAt", number`,
      [projectId, line, branch],
    );
    const [row] = stored;
    if (row && row.number === null) return { line, replaced, by, branch: row.branch, createdAt: row.createdAt };
  }
  return null;
}

/** Of single words, "log" and "sign", what they had in common is part of the rule: "log in" and "sign in". */
function lineOf(replaced: string, by: string, next: readonly string[]): string {
  const isWord = !replaced.includes(" ") && !by.includes(" ");
  const more = isWord && next.length === 1 && next[0] !== "" ? ` ${next[0]}` : "";
  return `- Write "${by}${more}", not "${replaced}${more}".`;
}

async function bodyOf(deps: LearnDeps, projectId: string, { replaced, by }: Suggestion): Promise<string> {
  const { rows } = await deps.pool.query<{ jobId: string; path: string }>(
    `select job_id as "jobId", path from review_lessons
     where project_id = $1 and replaced = $2 and by_text = $3 order by job_id desc limit $4`,
    [projectId, replaced, by, casesShownMax],
  );
  return [
    `Reviewers replaced "${replaced}" with "${by}" in the pull requests of these jobs before they merged them. Merge this pull request to have Emend write it so from now on, or close it: Emend does not suggest it again.`,
    "",
    ...rows.map(({ jobId, path }) => `- \`${path.replaceAll("`", "")}\` in [a job](${deps.jobUrl(jobId)})`),
  ].join("\n");
}
