import { hash } from "node:crypto";
import type { JobStatus } from "@emend/contract";
import { channels, type Listener } from "../../db/listener.ts";
import type { Pool, Queryable } from "../../db/pool.ts";
import { createFreshMap } from "../../lib/fresh-map.ts";
import { isJobId, toJobText, toWireJob, type WireJob, type WireRow, wireColumns } from "../wire-job.ts";

const jobsMax = 20_000;
/** Notices are hints: waiting readers also poll this often. */
const pollEveryMs = 1000;

/** A cache of serialized jobs, invalidated when they change. */
export interface JobReader {
  /** Synchronous if the job is cached. */
  read(id: string): WireJob | undefined | Promise<WireJob | undefined>;
  /** For a write of this process: the next reader here sees it before the notice arrives. */
  forget(id: string): void;
  /** Reads until `isEnough`, `untilMs` (by performance.now) or the signal. Returns the last read value. */
  readUntil(
    id: string,
    isEnough: (job: WireJob | undefined) => boolean,
    options: { untilMs: number; signal: AbortSignal },
  ): Promise<WireJob | undefined>;
  /** Listens for changes of the job until stopped. */
  listenFor(id: string): Notices;
  /** Ends all waits with the current values. */
  close(): void;
}

interface Notices {
  /** Waits until the job may have changed, `ms` have passed, or the signal aborts. */
  next(ms: number, signal: AbortSignal): Promise<"woken" | "timeout">;
  stop(): void;
}

export function createJobReader(deps: { pool: Pool; listener: Listener }): JobReader {
  const jobs = createFreshMap<WireJob>(deps.listener, jobsMax);
  const waiters = new Map<string, Set<() => void>>();
  let isClosed = false;
  const stopListening = [
    deps.listener.on(channels.jobChanged, (id) => {
      jobs.delete(id);
      wake(waiters.get(id));
    }),
    deps.listener.onReset(() => {
      jobs.clear();
      wakeAll();
    }),
  ];

  function read(id: string): WireJob | undefined | Promise<WireJob | undefined> {
    return jobs.get(id) ?? jobs.load(id, () => getJob(deps.pool, id));
  }

  function wakeAll(): void {
    for (const set of waiters.values()) wake(set);
  }

  function listenFor(id: string): Notices {
    const { promise, resolve } = Promise.withResolvers<"woken" | "timeout">();
    const wakeUp = () => resolve("woken");
    const set = waiters.get(id) ?? new Set();
    waiters.set(id, set.add(wakeUp));
    return {
      async next(ms, signal) {
        if (signal.aborted || isClosed) return "woken";
        const timer = setTimeout(() => resolve("timeout"), ms);
        signal.addEventListener("abort", wakeUp);
        const how = await promise;
        clearTimeout(timer);
        signal.removeEventListener("abort", wakeUp);
        return how;
      },
      stop() {
        set.delete(wakeUp);
        if (set.size === 0 && waiters.get(id) === set) waiters.delete(id);
      },
    };
  }

  return {
    read,
    listenFor,
    forget: (id) => jobs.delete(id),
    async readUntil(id, isEnough, { untilMs, signal }) {
      for (;;) {
        // Listens before it reads, so that no change in between is missed.
        const notices = listenFor(id);
        try {
          const job = await read(id);
          const leftMs = untilMs - performance.now();
          if (isEnough(job) || leftMs <= 0 || signal.aborted || isClosed) return job;
          await notices.next(Math.min(pollEveryMs, leftMs), signal);
        } finally {
          notices.stop();
        }
      }
    },
    close() {
      isClosed = true;
      for (const stop of stopListening) stop();
      wakeAll();
    },
  };
}

function wake(set: Set<() => void> | undefined): void {
  for (const resolve of set ?? []) resolve();
}

/** Undefined if it does not exist. */
async function getJob(db: Queryable, id: string): Promise<WireJob | undefined> {
  if (!isJobId(id)) return undefined;
  const { rows } = await db.query<WireRow>({
    name: "get-job",
    text: `select ${wireColumns} from jobs where id = $1`,
    values: [id],
  });
  return rows[0] && toWireJob(rows[0]);
}

interface JobPage {
  /** Newest first, each serialized for the API. */
  jobs: readonly string[];
  /** Null if there are no more. */
  next: string | null;
}

/** Behind every id in every collation: only C sorts signs such as ~ behind letters. */
const pastEveryId = `job_${"z".repeat(30)}`;

/** Ids sort by creation, so the cursor is the last id. */
export async function listJobs(
  db: Queryable,
  projectId: string,
  options: { status: JobStatus | null; before: string | null; limit: number },
): Promise<JobPage> {
  const { rows } = await db.query<WireRow>({
    name: options.status === null ? "list-jobs" : "list-jobs-by-status",
    text: `select ${wireColumns} from jobs
      where project_id = $1 and id < coalesce($2, '${pastEveryId}') ${options.status === null ? "and $4::text is null" : "and status = $4"}
      order by id desc limit $3`,
    values: [projectId, options.before, options.limit + 1, options.status],
  });
  const shown = rows.slice(0, options.limit);
  return { jobs: shown.map(toJobText), next: rows.length > shown.length ? (shown.at(-1)?.id ?? null) : null };
}

interface Listing {
  projectId: string;
  status: JobStatus | null;
}

/**
 * A cursor for one listing. It is harmless if shared, because it only marks a position in the key's own project. The
 * checksum refuses one that was altered, truncated, or taken from another listing.
 */
export function toCursor(listing: Listing, lastId: string): string {
  return Buffer.from(`${lastId}.${checkOf(listing, lastId)}`).toString("base64url");
}

/** The id after which the page starts. Null if the text is not a cursor of this listing. */
export function fromCursor(listing: Listing, cursor: string): string | null {
  const [lastId = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(".");
  return isJobId(lastId) && toCursor(listing, lastId) === cursor ? lastId : null;
}

function checkOf(listing: Listing, lastId: string): string {
  return hash("sha256", JSON.stringify(["jobs", listing.projectId, listing.status, lastId]), "base64url").slice(0, 12);
}

/** The jobs that have not ended. */
export async function findActiveJobs(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    "select id from jobs where id = any($1::text[]) and status = 'active'",
    [ids],
  );
  return new Set(rows.map((row) => row.id));
}
