import type { AgentJob } from "@emend/contract";
import type { Connection, WaitOptions } from "./connection.ts";
import { jobPath, parseJob } from "./jobs.ts";
import { type ApiResponse, pause, request, retryAfterMs } from "./request.ts";

const holdSeconds = 50;
const heldMsMin = 1000;
const pauseMsMin = 250;
const pauseMsMax = 10_000;

/** Waits until the job is completed, archived or failed, with long polling. */
export async function waitForJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  options: WaitOptions,
): Promise<AgentJob> {
  const path = jobPath(projectId, jobId);
  let last: ApiResponse | null = null;
  let quickAnswers = 0;
  for (;;) {
    const askedAt = performance.now();
    const answer: ApiResponse = await request(deps, pollOf(path, last), options.signal);
    const isChanged = answer.status !== 304 && answer.text !== last?.text;
    if (isChanged) {
      const job = parseJob(deps, answer);
      options.onUpdate?.(job);
      if (job.status !== "active") return job;
    }
    const isFirst = last === null;
    if (answer.status !== 304) last = answer;
    if (isFirst) continue;

    // A service that holds the response sets the pace. A proxy that strips the header makes it answer immediately: then
    // the client slows down with every response without news.
    const wasHeld = performance.now() - askedAt >= heldMsMin;
    quickAnswers = wasHeld || isChanged ? 0 : quickAnswers + 1;
    if (!wasHeld) await pause(isChanged ? pauseMsMin : idlePauseMs(answer, quickAnswers), options.signal);
  }
}

function pollOf(path: string, last: ApiResponse | null) {
  if (last === null) return { method: "GET", path, isPatient: true } as const;
  const etag = last.headers.get("etag");
  return {
    method: "GET",
    path,
    headers: { prefer: `wait=${holdSeconds}`, ...(etag ? { "if-none-match": etag } : {}) },
    heldMsMax: holdSeconds * 1000,
    isPatient: true,
  } as const;
}

function idlePauseMs(answer: ApiResponse, quickAnswers: number): number {
  const grownMs = Math.min(pauseMsMax, pauseMsMin * 2 ** quickAnswers);
  return Math.max(grownMs, retryAfterMs(answer.headers.get("retry-after")) ?? 0);
}
