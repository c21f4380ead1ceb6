import type { Forge } from "@emend/forges";
import type { CodeOwners, WriteQueue } from "@emend/publish";
import type { CodeAuthors, Remote } from "@emend/tree";
import { getProject, type Project } from "../accounts/projects/projects.ts";
import type { Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import type { StoredSource } from "../jobs/run/leased-job.ts";

export interface AuthorDeps {
  pool: Queryable;
  writes: WriteQueue;
  codeAuthors: CodeAuthors;
  /** `repositoryId` null: the project's own repository. */
  remoteOf(at: { projectId: string; repositoryId: string | null }, signal: AbortSignal): Promise<Remote>;
  openForge(project: Project): Promise<Forge>;
  /** On the local forge. False: no member with this address can review, or was asked before. */
  askMember(pull: { projectId: string; number: number }, email: string): Promise<boolean>;
}

interface AskingJob {
  projectId: string;
  number: number;
  sources: readonly StoredSource[];
  owners: CodeOwners | null;
}

const filesMax = 5;
const authorsMax = 2;
/** More are not tried: people may have left, or have no account here. */
const triesMax = 12;
const pages = /\.(?:mdx?|markdown|rst|adoc|txt)$/i;

/**
 * Requests a review from those who wrote most of the newest commits of the code that a job cites, once for each job.
 * Whoever cannot review, such as the account that opened the pull request, is left out.
 */
export async function askAuthors(deps: AuthorDeps, jobId: string, signal: AbortSignal): Promise<void> {
  const { rows } = await deps.pool.query<AskingJob>(
    `select project_id as "projectId", (pull_request ->> 'number')::int as number, sources, code_owners as owners
     from jobs where id = $1 and pull_request ->> 'state' = 'open' and not authors_asked`,
    [jobId],
  );
  const [job] = rows;
  const project = job && (await getProject(deps.pool, job.projectId));
  if (!job || !project?.settings.forge.codeAuthors) return;
  const emails = await readAuthors(deps, job, signal);
  const isAsked = project.forge === "local" ? askOnLocalForge(deps, job) : askOnForge(deps, { job, project }, signal);
  let asked = 0;
  for (const email of ranked(emails, project.settings.commit.authorEmail).slice(0, triesMax)) {
    if (asked < authorsMax && (await isAsked(email))) asked += 1;
  }
  await deps.pool.query("update jobs set authors_asked = true where id = $1", [jobId]);
}

async function readAuthors(deps: AuthorDeps, job: AskingJob, signal: AbortSignal): Promise<readonly string[]> {
  const { projectId } = job;
  const { rows: known } = await deps.pool.query<{ id: string; name: string; url: string }>(
    "select id, name, repository_url as url from context_repositories where project_id = $1",
    [projectId],
  );
  const places = new Map<string, { repositoryId: string | null; commit: string; path: string }>();
  for (const { repository, repositoryUrl, path, commit } of job.sources) {
    // Another repository may have this name by now.
    const found = known.find(({ name, url }) => name === repository && url === repositoryUrl);
    const isCode = !pages.test(path) && /^[\da-f]{40,64}$/.test(commit);
    if (!isCode || (repository !== null && !found)) continue;
    places.set(`${repositoryUrl}\n${path}`, { repositoryId: found?.id ?? null, commit, path });
  }
  const emails: string[] = [];
  const files = [...places.values()].slice(0, filesMax);
  for (const own of Object.values(Object.groupBy(files, ({ repositoryId }) => repositoryId ?? ""))) {
    const [{ repositoryId, commit } = { repositoryId: null, commit: "" }] = own ?? [];
    const remote = await deps.remoteOf({ projectId, repositoryId }, signal);
    const paths = (own ?? []).map(({ path }) => path);
    emails.push(...(await deps.codeAuthors({ remote, commit, paths }, signal)));
  }
  return emails;
}

/** Without programs and Emend's own commits, whoever has most commits first. */
function ranked(emails: readonly string[], own: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const email of emails.map((one) => one.toLowerCase())) {
    if (email !== own.toLowerCase() && !email.includes("[bot]")) counts.set(email, (counts.get(email) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one).map(([email]) => email);
}

function askOnLocalForge({ askMember }: AuthorDeps, { projectId, number }: AskingJob) {
  return (email: string) => askMember({ projectId, number }, email);
}

function askOnForge(
  { writes, openForge }: AuthorDeps,
  { job, project }: { job: AskingJob; project: Project },
  signal: AbortSignal,
) {
  const { forge } = project.settings;
  const others = [...forge.reviewers, ...(forge.codeOwners ? (job.owners?.people ?? []) : [])];
  return async (email: string): Promise<boolean> => {
    const login = loginOf(email, new URL(project.repositoryUrl).hostname);
    // The task for the project's reviewers asks them.
    if (login === null || others.some((name) => name.toLowerCase() === login)) return false;
    const only = { ...forge, labels: [], teamReviewers: [], reviewers: [login] };
    const far = await openForge({ ...project, settings: { ...project.settings, forge: only } });
    try {
      await writes.write(far.credentialId, async () => far.ensureDetails?.(job.number, signal), signal);
      return true;
    } catch (error) {
      if (!isAppError(error, "forge_rejected") || error.retryable) throw error;
      return false;
    }
  };
}

/**
 * Only where the forge itself tells it: GitHub, GitLab, Gitea and Forgejo give people who hide their address one with
 * their name. Other addresses say nothing about accounts.
 */
function loginOf(email: string, host: string): string | null {
  const [, login = "", domain] = /^(?:\d+[+-])?([\w.-]+)@(?:users\.)?noreply\.(.+)$/.exec(email) ?? [];
  return login !== "" && domain === host.toLowerCase() ? login : null;
}
