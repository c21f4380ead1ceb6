import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { Logger } from "@emend/base/logger.ts";
import { createPatchReader } from "@emend/contract";
import type { OpenPullRequest } from "@emend/forges";
import { matchesGlob } from "@emend/site";
import type { Git, Remote } from "@emend/tree";
import type { Queryable } from "../db/pool.ts";
import { dayOf, type PullEvent, type PullValues, type Trigger, type Values } from "./automation.ts";
import type { Look } from "./claim-trigger-poll.ts";
import { type Push, passingFiles, readPush } from "./read-push.ts";

/** Null: the project's own repository. */
export interface RepositoryName {
  projectId: string;
  repositoryId: string | null;
}

/** The pull requests of a repository, as its forge tells them now. */
export interface PullSource {
  list(signal: AbortSignal): Promise<readonly OpenPullRequest[]>;
  /** Null: the forge does not say. */
  commitsOf(pull: OpenPullRequest, signal: AbortSignal): Promise<{ head: string; base: string } | null>;
  stateOf(number: number, signal: AbortSignal): Promise<"open" | "merged" | "closed" | null>;
  /** Null: the forge does not show it to this token, or has no issues. */
  issueOf(number: number, signal: AbortSignal): Promise<{ title: string; body: string } | null>;
}

type PullTrigger = Extract<Trigger, { kind: "pull_request" }>;

const refOf = (number: number) => `pull/${number}`;
const eventsMax = 20;

/**
 * What happened to a repository's pull requests since the last look. Everything is read from the forge and every event
 * has a name of its own: webhooks that are repeated, or arrive in another order, find nothing new.
 */
export async function pollPulls(
  deps: { git: Git; remote: Remote; source: PullSource },
  look: Look,
  signal: AbortSignal,
): Promise<{
  seen: ReadonlyMap<string, string>;
  records: { event: string; values: Values; skipped: string | null }[];
  details: Record<string, OpenPullRequest>;
}> {
  const trigger = look.trigger as PullTrigger;
  const isFirst = look.known.size === 0;
  const isTarget = ({ base }: OpenPullRequest) =>
    trigger.branches.length === 0 || trigger.branches.some((pattern) => matchesGlob(pattern, base));
  const open = (await deps.source.list(signal)).filter(isTarget);
  const seen = new Map<string, string>();
  const details: Record<string, OpenPullRequest> = {};
  const events: { pull: OpenPullRequest; event: PullEvent }[] = [];
  const keep = (pull: OpenPullRequest) => {
    seen.set(refOf(pull.number), pull.headCommit);
    details[refOf(pull.number)] = pull;
  };
  for (const pull of open) {
    const before = look.known.get(refOf(pull.number));
    keep(pull);
    if (isFirst || before === pull.headCommit) continue;
    events.push({ pull, event: before === undefined ? "opened" : "updated" });
  }
  for (const [ref, pull] of Object.entries(look.details)) {
    if (seen.has(ref)) continue;
    const state = await deps.source.stateOf(pull.number, signal);
    // Still open: the list has an end, and this one is past it.
    if (state === "open") keep(pull);
    if (state === "merged") events.push({ pull, event: "merged" });
  }
  const wanted = events.filter(({ event }) => trigger.on.includes(event));
  for (const { pull } of wanted.slice(eventsMax)) {
    // Looked at again next time.
    const before = look.known.get(refOf(pull.number));
    if (before === undefined) seen.delete(refOf(pull.number));
    else seen.set(refOf(pull.number), before);
    details[refOf(pull.number)] = look.details[refOf(pull.number)] ?? pull;
  }
  const records = [];
  for (const { pull, event } of wanted.slice(0, eventsMax)) {
    const push = await readPull(deps, pull, signal);
    const named = issuesIn([pull.title, pull.body, ...(push?.commits ?? [])].join("\n"));
    const issues = await readIssues(deps.source, look.repositoryUrl, named, signal);
    records.push(describePull(look, trigger, { pull, event, issues }, push));
  }
  return { seen, records, details };
}

async function readPull(
  deps: { git: Git; remote: Remote; source: PullSource },
  pull: OpenPullRequest,
  signal: AbortSignal,
): Promise<Push | null> {
  const commits = await deps.source.commitsOf(pull, signal);
  if (!commits) return null;
  const range = { remote: deps.remote, from: commits.base, to: commits.head, withDiff: true };
  return readPush(deps.git, range, signal).catch(() => {
    // A branch that was removed after the merge, or a fork whose commits the forge does not give: told without a diff.
    signal.throwIfAborted();
    return null;
  });
}

function describePull(
  look: Look,
  trigger: PullTrigger,
  { pull, event, issues }: { pull: OpenPullRequest; event: PullEvent; issues: readonly string[] },
  push: Push | null,
): { event: string; values: Values; skipped: string | null } {
  const files = passingFiles(trigger, push?.files ?? []);
  const passes = push === null || files.length > 0 || (push.files.length === 0 && trigger.include.length === 0);
  const { number, url, title, body, headCommit } = pull;
  const values: PullValues = {
    url,
    event,
    title,
    description: body,
    diff: push?.diff || "(The diff cannot be read.)",
    issues,
  };
  return {
    event: event === "updated" ? `pull ${number} updated ${headCommit}` : `pull ${number} ${event}`,
    values: {
      commits: push?.commits ?? [],
      changedFiles: files,
      tag: null,
      date: dayOf(look.now, "UTC"),
      repository: look.repositoryUrl,
      pulls: [values],
    },
    skipped: passes ? null : `Skipped: no changed file of pull request ${number} passes the path filters.`,
  };
}

const issueForms =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?|implements?|refs?|see|part of)[:\s]+((?:[\w.-]+\/[\w.-]+)?#\d{1,9}|https?:\/\/\S{1,200}\/issues\/\d{1,9}|[A-Z][A-Z0-9]{1,9}-\d{1,7})\b/gi;
const issuesMax = 20;

/** The issues that a text says it is about, as it names them. */
export function issuesIn(text: string): readonly string[] {
  const found = [...text.slice(0, 100_000).matchAll(issueForms)].map((match) => match[1] ?? "");
  return [...new Set(found)].slice(0, issuesMax);
}

const issuesReadMax = 5;
const issueLengthMax = 4_000;

/** Each issue as the text names it, with its title and text where it is one of this repository that the forge shows. */
async function readIssues(
  source: PullSource,
  repositoryUrl: string,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const told: string[] = [];
  for (const name of names) {
    const number = told.length < issuesReadMax ? ownIssue(name, repositoryUrl) : null;
    // What cannot be read is told by its name alone, as an issue of another repository is.
    const found = number === null ? null : await source.issueOf(number, signal).catch(() => null);
    signal.throwIfAborted();
    told.push(found ? `${name}: ${`${found.title}\n\n${found.body}`.trim().slice(0, issueLengthMax)}` : name);
  }
  return told;
}

function ownIssue(name: string, repositoryUrl: string): number | null {
  const isHere = name.startsWith("#") || name.toLowerCase().startsWith(`${repositoryUrl.toLowerCase()}/`);
  const number = Number(/(\d+)$/.exec(name)?.[1]);
  return isHere && number > 0 && number < 2 ** 31 ? number : null;
}

const pullsReadMax = 30;

/**
 * An open pull request, of a person or of Emend, that changes a file of this diff too. Null where there is none, where
 * the job is no automation's, and where somebody asked for the run by hand.
 */
export async function findTouchingPull(
  deps: {
    db: Queryable;
    git: Git;
    log: Logger;
    remoteOf(at: RepositoryName, signal: AbortSignal): Promise<Remote>;
    pullsOf(at: RepositoryName, signal: AbortSignal): Promise<PullSource | null>;
  },
  job: { id: string; projectId: string; branch: string },
  diff: Buffer,
  signal: AbortSignal,
): Promise<{ url: string; path: string } | null> {
  const { rowCount } = await deps.db.query(
    "select from automation_runs where job_id = $1 having count(*) > 0 and not bool_or(by_hand)",
    [job.id],
  );
  if (rowCount === 0) return null;
  const changed = new Set(pathsIn(diff.toString("utf8")));
  const own = await findOwnTouching(deps.db, job, changed);
  if (own) return own;
  try {
    const at = { projectId: job.projectId, repositoryId: null };
    const source = await deps.pullsOf(at, signal);
    const remote = await deps.remoteOf(at, signal);
    for (const pull of ((await source?.list(signal)) ?? []).slice(0, pullsReadMax)) {
      const commits = pull.head === job.branch ? null : await source?.commitsOf(pull, signal);
      if (!commits) continue;
      const { files } = await readPush(deps.git, { remote, from: commits.base, to: commits.head }, signal);
      const path = files.find((file) => changed.has(file));
      if (path !== undefined) return { url: pull.url, path };
    }
  } catch (error) {
    signal.throwIfAborted();
    // The forge may be away; two pull requests are better than none.
    deps.log.warn({ err: error, jobId: job.id }, "could not look for other pull requests");
  }
  return null;
}

/** Those of Emend's own jobs are known here. */
async function findOwnTouching(
  db: Queryable,
  job: { id: string; projectId: string },
  changed: ReadonlySet<string>,
): Promise<{ url: string; path: string } | null> {
  const { rows } = await db.query<{ url: string; diff: Buffer }>(
    `select pull_request ->> 'url' as url, diff from jobs
     where project_id = $1 and id <> $2 and pull_request ->> 'state' = 'open' and diff is not null
     order by id desc limit $3`,
    [job.projectId, job.id, pullsReadMax],
  );
  for (const { url, diff } of rows) {
    const path = pathsIn((await promisify(inflate)(diff)).toString("utf8")).find((one) => changed.has(one));
    if (path !== undefined) return { url, path };
  }
  return null;
}

/** The files that a diff changes, by their old names too. */
export function pathsIn(diff: string): readonly string[] {
  const reader = createPatchReader();
  reader.read(diff.endsWith("\n") ? diff : `${diff}\n`);
  return reader.end().flatMap(({ path, pathBefore }) => (pathBefore === null ? [path] : [path, pathBefore]));
}
