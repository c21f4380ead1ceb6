import { hash } from "node:crypto";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { unseenCharacters } from "@emend/contract";
import type { OpenPullRequest } from "@emend/forges";
import { type Git, listRemote, type Remote } from "@emend/tree";
import { type Pool, type Queryable, toJsonb } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { AppError, isAppError } from "../errors.ts";
import { type AutomationDeps, dayOf, type Values } from "./automation.ts";
import { claimTriggerPoll, type Look } from "./claim-trigger-poll.ts";
import { type PullSource, pathsIn, pollPulls, type RepositoryName } from "./pulls.ts";
import { type Push, passingFiles, pushesSince, type RefEvent, readPush, watchedRefs } from "./read-push.ts";

/** What only a node with git can provide. */
export interface PushDeps {
  git: Git;
  /** Of a context repository, or of the project's own where none is named. */
  remoteOf(at: RepositoryName, signal: AbortSignal): Promise<Remote>;
  /** Null: its forge cannot be asked, for want of a token. */
  pullsOf(at: RepositoryName, signal: AbortSignal): Promise<PullSource | null>;
}

const looksMax = 200;
/** A repository that does not respond must not delay others. */
const looksAtOnce = 4;
/** Further pushes are read at the next poll. */
const eventsMax = 20;
const lookMsMax = 10 * 60_000;

/**
 * Polls the repositories of due push and pull request triggers: every few minutes, or immediately after a forge's
 * webhook. What happened is read from the repository; the webhook is not trusted.
 */
export async function pollTriggers(deps: Pick<AutomationDeps, "pool" | "log"> & PushDeps): Promise<void> {
  let looks = 0;
  async function lookInTurn(): Promise<void> {
    while (looks++ < looksMax) {
      const look = await claimTriggerPoll(deps.pool);
      if (!look) return;
      try {
        await pollTrigger(deps, look, AbortSignal.timeout(lookMsMax));
      } catch (error) {
        deps.log.warn({ err: error, automationId: look.id }, "could not check a context repository");
        await recordFailure(deps.pool, look, isAppError(error) ? error.publicMessage : "a fault of this server");
      }
    }
  }
  await Promise.all(Array.from({ length: looksAtOnce }, lookInTurn));
}

type PushLook = Look & { trigger: Extract<Look["trigger"], { kind: "push" }> };

function isPushLook(look: Look): look is PushLook {
  return look.trigger.kind === "push";
}

async function pollTrigger(
  deps: Pick<AutomationDeps, "pool"> & PushDeps,
  look: Look,
  signal: AbortSignal,
): Promise<void> {
  const remote = await deps.remoteOf(look, signal);
  if (!isPushLook(look)) {
    const source = await deps.pullsOf(look, signal);
    if (!source) {
      const publicMessage = "The repository has no token, so Emend cannot list its pull requests. Add one.";
      throw new AppError("invalid_request", { publicMessage });
    }
    const found = await pollPulls({ git: deps.git, remote, source }, look, signal);
    return recordPushes(deps.pool, look, found);
  }
  const refs = await listRemote(deps.git, remote, ["HEAD", "refs/heads/*", "refs/tags/*"], signal);
  const watched = watchedRefs(look.trigger, refs, look.baseRef);
  const head = refs.ids.get(`refs/heads/${look.baseRef ?? refs.defaultBranch ?? ""}`) ?? null;
  // The first poll only records what exists.
  const events = look.known.size === 0 ? [] : pushesSince(look.known, watched, head);
  const records: PushRecord[] = [];
  for (const event of events.slice(0, eventsMax)) {
    const push = await readPush(deps.git, { remote, ...event }, signal);
    const isOwn = look.repositoryId === null && (await isOwnMerge(deps.pool, look.id, push.files));
    records.push(describePush(look, event, push, isOwn));
  }
  const later = new Set(events.slice(eventsMax).map(({ ref }) => ref));
  const seen = new Map([...watched].filter(([ref]) => !later.has(ref)));
  for (const [ref, id] of look.known) if (later.has(ref)) seen.set(ref, id);
  await recordPushes(deps.pool, look, { seen, records });
}

function describePush(look: PushLook, event: RefEvent, push: Push, isOwn: boolean): PushRecord {
  const { ref, tag, from, to } = event;
  const files = passingFiles(look.trigger, push.files);
  const passes = files.length > 0 || (push.files.length === 0 && look.trigger.include.length === 0);
  return {
    event: `push ${ref} ${from ?? ""}..${to}`,
    values: {
      commits: push.commits,
      changedFiles: files.map((file) => file.replaceAll(/[\t\n]/g, " ").replaceAll(unseenCharacters, "\u{fffd}")),
      tag,
      date: dayOf(look.now, "UTC"),
      repository: look.repositoryUrl,
    },
    skipped: isOwn
      ? "Skipped: these are the files of this automation's own merged pull request."
      : passes
        ? null
        : `Skipped: none of the ${push.files.length} changed files of ${ref} passes the path filters.`,
  };
}

/** Reported in the history once a day: the problem will be the same at the next poll. */
async function recordFailure(db: Queryable, look: Look, words: string): Promise<void> {
  await db.query(
    `insert into automation_runs (automation_id, event, values, state, words, settled_at)
     values ($1, $2, '{}', 'skipped', $3, clock_timestamp()) on conflict (automation_id, event) do nothing`,
    [look.id, `look failed ${dayOf(look.now, "UTC")}`, `Could not look at ${look.trigger.repository}: ${words}`],
  );
}

export interface PushRecord {
  event: string;
  values: Values;
  /** Why it makes no job. Null: it waits to become one. */
  skipped: string | null;
}

/** Stored even if nothing is watched yet, so that the next poll knows it is not the first. */
const lookedAt = "looked";

/** Stores the pushes and the current refs together: an interrupted poll is repeated from where it began. */
export async function recordPushes(
  pool: Pool,
  look: Pick<Look, "id" | "known">,
  found: {
    seen: ReadonlyMap<string, string>;
    records: readonly PushRecord[];
    details?: Readonly<Record<string, OpenPullRequest>>;
  },
): Promise<void> {
  const { id } = look;
  const refs = [...found.seen].filter(([ref]) => ref !== lookedAt);
  refs.push([lookedAt, ""]);
  await inTransaction(pool, async (client) => {
    const locked = await client.query("select from automations where id = $1 and paused_at is null for no key update", [
      id,
    ]);
    // Read after the lock: a statement that waits for one sees the data from when it began.
    const { rows } = await client.query<{ refs: Record<string, string> | null }>(
      "select jsonb_object_agg(ref, commit_id) as refs from automation_refs where automation_id = $1",
      [id],
    );
    // It was removed or paused meanwhile, or another node polled first.
    if (locked.rowCount === 0 || !isSame(look.known, rows[0]?.refs ?? {})) return;
    for (const { event, values, skipped } of found.records) {
      await client.query(
        `insert into automation_runs (automation_id, event, values, state, words, settled_at)
         values ($1, $2, $3, $4, $5, case when $4 = 'skipped' then clock_timestamp() end)
         on conflict (automation_id, event) do nothing`,
        [id, event, toJsonb(values), skipped === null ? "waiting" : "skipped", skipped ?? "Waits for its turn."],
      );
    }
    await client.query("delete from automation_refs where automation_id = $1", [id]);
    await client.query(
      `insert into automation_refs (automation_id, ref, commit_id, details)
       select $1, ref, commit_id, $4::jsonb -> ref from unnest($2::text[], $3::text[]) given (ref, commit_id)`,
      [id, refs.map(([ref]) => ref), refs.map(([, commit]) => commit), toJsonb(found.details ?? {})],
    );
  });
}

function isSame(known: ReadonlyMap<string, string>, now: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(now);
  return entries.length === known.size && entries.every(([ref, commit]) => known.get(ref) === commit);
}

/** Merging what an automation proposed is a push to the docs, and must not start it again. */
async function isOwnMerge(db: Queryable, automationId: string, files: readonly string[]): Promise<boolean> {
  const { rows } = await db.query<{ diff: Buffer | null }>(
    `select diff from automations join jobs on jobs.id = job_id
     where automations.id = $1 and pull_request ->> 'state' = 'merged'`,
    [automationId],
  );
  if (!rows[0]?.diff || files.length === 0) return false;
  const paths = new Set(pathsIn((await promisify(inflate)(rows[0].diff)).toString("utf8")));
  return files.every((file) => paths.has(file));
}

const proposalsMax = 20;

/**
 * The pull request in which this automation already proposed the same change, and which people closed unmerged. Null if
 * there is none, if the job is not an automation's, or if a person requested the run.
 */
export async function findClosedChange(db: Queryable, jobId: string, diff: Buffer): Promise<string | null> {
  const { rows } = await db.query<{ url: string; diff: Buffer }>(
    `select pull_request ->> 'url' as url, diff from jobs
     where diff is not null and pull_request ->> 'state' = 'closed' and id <> $1 and id in (
       select job_id from automation_runs where automation_id in (
         select automation_id from automation_runs where job_id = $1 group by automation_id having not bool_or(by_hand)))
     order by ended_at desc limit $2`,
    [jobId, proposalsMax],
  );
  if (rows.length === 0) return null;
  const wanted = changeIdOf(diff.toString("utf8"));
  for (const row of rows) {
    const proposed: Buffer = await promisify(inflate)(row.diff);
    if (changeIdOf(proposed.toString("utf8")) === wanted) return row.url;
  }
  return null;
}

/** Lines that say where a change is, not what it is. */
const placement = /^(index |@@ | |\\ |$)/;

/** Equal for two diffs that add and remove the same lines in the same files, wherever those lines are. */
export function changeIdOf(diff: string): string {
  const lines = diff.split("\n").filter((line) => !placement.test(line));
  return hash("sha256", lines.join("\n"), "hex");
}
