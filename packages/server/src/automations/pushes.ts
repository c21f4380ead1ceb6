import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { unseenCharacters } from "@emend/contract";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { isAppError } from "../errors.ts";
import type { Git } from "../tree/git/git.ts";
import { checkObjectIds, objectFormatOf } from "../tree/git/object-id.ts";
import type { Remote } from "../tree/mirror/mirror.ts";
import { ensureMirror } from "../tree/mirror/repair-mirror.ts";
import { listRemote, unreachable } from "../tree/mirror/resolve-base.ts";
import type { AutomationDeps } from "./automation.ts";
import { claimLook, type Look } from "./claim-look.ts";
import { passingFiles, pushesSince, type RefEvent, watchedRefs } from "./select-refs.ts";
import { dayOf, type Values } from "./values.ts";

/** What only a node with git can provide. */
export interface PushDeps {
  git: Git;
  remoteOf(repositoryId: string, signal: AbortSignal): Promise<Remote>;
}

const looksMax = 200;
/** A repository that does not respond must not delay others. */
const looksAtOnce = 4;
/** Further pushes are read at the next poll. */
const eventsMax = 20;
const lookMsMax = 10 * 60_000;

/**
 * Polls the repositories of due push triggers: every few minutes, or immediately after a forge's webhook. What happened
 * is read from the repository; the webhook is not trusted.
 */
export async function lookAtPushes(deps: Pick<AutomationDeps, "pool" | "log"> & PushDeps): Promise<void> {
  let looks = 0;
  async function lookInTurn(): Promise<void> {
    while (looks++ < looksMax) {
      const look = await claimLook(deps.pool);
      if (!look) return;
      try {
        await lookAt(deps, look, AbortSignal.timeout(lookMsMax));
      } catch (error) {
        deps.log.warn({ err: error, automationId: look.id }, "could not check a context repository");
        await recordFailure(deps.pool, look, isAppError(error) ? error.publicMessage : "a fault of this server");
      }
    }
  }
  await Promise.all(Array.from({ length: looksAtOnce }, lookInTurn));
}

async function lookAt(deps: Pick<AutomationDeps, "pool"> & PushDeps, look: Look, signal: AbortSignal): Promise<void> {
  const remote = await deps.remoteOf(look.repositoryId, signal);
  const refs = await listRemote(deps.git, remote, ["HEAD", "refs/heads/*", "refs/tags/*"], signal);
  const watched = watchedRefs(look.trigger, refs, look.baseRef);
  const head = refs.ids.get(`refs/heads/${look.baseRef ?? refs.defaultBranch ?? ""}`) ?? null;
  // The first poll only records what exists.
  const events = look.known.size === 0 ? [] : pushesSince(look.known, watched, head);
  const records: PushRecord[] = [];
  for (const event of events.slice(0, eventsMax)) {
    records.push(describePush(look, event, await readPush(deps.git, { remote, ...event }, signal)));
  }
  const later = new Set(events.slice(eventsMax).map(({ ref }) => ref));
  const seen = new Map([...watched].filter(([ref]) => !later.has(ref)));
  for (const [ref, id] of look.known) if (later.has(ref)) seen.set(ref, id);
  await recordPushes(deps.pool, look, { seen, records });
}

function describePush(look: Look, event: RefEvent, push: Push): PushRecord {
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
    skipped: passes
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

interface PushRecord {
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
  found: { seen: ReadonlyMap<string, string>; records: readonly PushRecord[] },
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
        [id, event, values, skipped === null ? "waiting" : "skipped", skipped ?? "Waits for its turn."],
      );
    }
    await client.query("delete from automation_refs where automation_id = $1", [id]);
    await client.query(
      `insert into automation_refs (automation_id, ref, commit_id)
       select $1, ref, commit_id from unnest($2::text[], $3::text[]) given (ref, commit_id)`,
      [id, refs.map(([ref]) => ref), refs.map(([, commit]) => commit)],
    );
  });
}

function isSame(known: ReadonlyMap<string, string>, now: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(now);
  return entries.length === known.size && entries.every(([ref, commit]) => known.get(ref) === commit);
}

/** What a push brought. */
interface Push {
  /** Oldest first, each with its author, date and message. */
  commits: readonly string[];
  files: readonly string[];
}

const commitsMax = 50;
const fetchMsMax = 5 * 60_000;
const readMsMax = 60_000;
const packBytesMax = 512 * 1024 * 1024;
const logBytesMax = 1024 * 1024;
const pathBytesMax = 4 * 1024 * 1024;

/**
 * Reads what is between two commits from the repository, in a temporary folder: no locks, nothing to clean up. Without
 * blobs if the forge supports that.
 */
async function readPush(
  git: Git,
  input: { remote: Remote; from: string | null; to: string },
  signal: AbortSignal,
): Promise<Push> {
  const { remote, from, to } = input;
  checkObjectIds(to, ...(from === null ? [] : [from]));
  const dir = await mkdtemp(join(tmpdir(), "emend-push-"));
  const gitDir = join(dir, "push.git");
  try {
    await ensureMirror(git, gitDir, objectFormatOf(to), signal);
    if (from !== null && (await fetch([from, to])).code === 0) return await between(from);
    // Nothing to compare with, or the previous commit was rewritten: only the last commit counts.
    const alone = await fetch([to]);
    if (alone.code !== 0) throw unreachable(alone);
    return await between(null);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }

  function fetch(ids: readonly string[]) {
    const refspecs = ids.map((id) => `+${id}:refs/emend/${id}`);
    const flags = ["--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet"];
    return git.run(
      {
        gitDir,
        args: ["fetch", `--depth=${commitsMax + 1}`, "--filter=blob:none", ...flags, "--", remote.url, ...refspecs],
        remote,
        timeMsMax: fetchMsMax,
        outputBytesMax: 64 * 1024,
        fileBytesMax: packBytesMax,
      },
      signal,
    );
  }

  async function between(base: string | null): Promise<Push> {
    const read = (args: readonly string[], outputBytesMax: number) =>
      git.run({ gitDir, args, timeMsMax: readMsMax, outputBytesMax }, signal);
    const range = base === null ? ["-n", "1", to] : ["-n", String(commitsMax), `${base}..${to}`];
    const log = await read(["log", "-z", "--reverse", "--format=%h %an %cs%n%B", ...range, "--"], logBytesMax);
    const compared = base === null ? ["--root", "--no-commit-id", "-m", "--first-parent", to] : [base, to];
    const files = await read(["diff-tree", "-r", "-z", "--no-renames", "--name-only", ...compared, "--"], pathBytesMax);
    if (log.code !== 0) throw unreachable(log);
    if (files.code !== 0) throw unreachable(files);
    return { commits: split(log.stdout).map(describe), files: split(files.stdout) };
  }
}

function split(output: Buffer): string[] {
  return output
    .toString("utf8")
    .split("\0")
    .filter((part) => part !== "");
}

/** The message is indented below its heading, so that commits stay separate whatever their messages contain. */
function describe(entry: string): string {
  const [heading = "", ...lines] = entry.trimEnd().split("\n");
  return [heading, ...lines.map((line) => `    ${line}`.trimEnd())].join("\n");
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
