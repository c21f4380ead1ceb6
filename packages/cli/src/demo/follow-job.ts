import type { AgentJob, Jobs } from "@emend/sdk";
import type { Admin, JobEvent } from "@emend/server";
import { seconds } from "../terminal/duration.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { describeEvent } from "./describe-event.ts";

interface FollowDeps {
  jobs: Jobs;
  admin: Pick<Admin, "jobEvents">;
  narrator: Narrator;
}

const pollMs = 40;

/**
 * Waits for the job as any client does, by long polling, and meanwhile tells its events. They are read from the
 * database, for the wire does not carry them yet; each has the database's own time, so that no phase is missed,
 * however short.
 */
export async function followJob(deps: FollowDeps, jobId: string, signal: AbortSignal): Promise<AgentJob> {
  const waiting = deps.jobs.wait(jobId, { signal });
  let isOver = false;
  waiting
    .catch(() => {})
    .finally(() => {
      isOver = true;
    });
  const teller = createTeller(deps.narrator);
  let seq = 0;
  for (;;) {
    // Looked at before the events are read: what ended before the reading is in it.
    const isLastRound = isOver;
    for (const event of await deps.admin.jobEvents(jobId, seq)) {
      seq = event.seq;
      teller.tell(event);
    }
    if (isLastRound) return waiting;
    await Promise.race([waiting.catch(() => {}), new Promise((resolve) => setTimeout(resolve, pollMs))]);
  }
}

/** Turns events into one line a phase: its name, how long it took and what it did. */
function createTeller(narrator: Narrator) {
  let phase: { name: string; since: Date; details: string[] } | null = null;

  function close(at: Date) {
    if (!phase) return;
    const took = seconds(at.getTime() - phase.since.getTime()).padStart(6);
    narrator.done(phase.name, `${took}   ${phase.details.join(", ")}`.trimEnd());
    phase = null;
  }

  return {
    tell(event: JobEvent) {
      const told = describeEvent(event);
      switch (told.kind) {
        case "phase":
          close(event.createdAt);
          phase = { name: told.name, since: event.createdAt, details: [] };
          narrator.begin(told.name);
          break;
        case "detail":
          phase?.details.push(told.text);
          narrator.begin(`${phase?.name ?? ""}: ${told.text}`);
          break;
        case "end":
          close(event.createdAt);
          break;
        case "nothing":
          break;
      }
    },
  };
}
