import { appendFileSync, writeFileSync } from "node:fs";

/** What happened, in order, as seen by its cause. The judge reads only this and the database. */
export type Entry =
  /** The server answered 201 with this job. */
  | { kind: "accepted"; jobId: string; idempotencyKey?: string }
  | { kind: "expected"; jobs: number }
  | { kind: "fault"; what: string }
  /** From a fault until a job was claimed again. */
  | { kind: "recovered"; afterMs: number; msMax: number }
  /** Something that a promise forbids, seen from outside. */
  | { kind: "unexpected"; what: string }
  | { kind: "measured"; what: string; value: number; unit: string };

export interface History {
  add(entry: Entry): void;
  entries(): readonly Entry[];
}

/** In memory, and line by line in a file, so that a run that hangs can be inspected. */
export function openHistory(file: string | null): History {
  const entries: Entry[] = [];
  const startedAt = performance.now();
  if (file) writeFileSync(file, "");
  return {
    add(entry) {
      entries.push(entry);
      if (file)
        appendFileSync(file, `${JSON.stringify({ atMs: Math.round(performance.now() - startedAt), ...entry })}\n`);
    },
    entries: () => entries,
  };
}
