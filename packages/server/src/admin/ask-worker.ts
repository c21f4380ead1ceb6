import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type Queryable, toJsonb } from "../db/pool.ts";
import { listNodes } from "../installation/nodes.ts";
import { askDiagnosis } from "../tasks/start-tasks.ts";
import type { ProjectCheck, WorkersChecks } from "./doctor-project.ts";

const lookEveryMs = 100;

/** Null: no worker runs, or none answers in time. */
export async function askWorker(
  db: Queryable,
  projectId: string,
  { waitMsMax }: { waitMsMax: number },
): Promise<WorkersChecks | null> {
  if (!(await listNodes(db)).some(({ isAlive, role }) => isAlive && role !== "api")) return null;
  const id = randomUUID();
  await askDiagnosis(db, { projectId, id });
  for (let waitedMs = 0; waitedMs < waitMsMax; waitedMs += lookEveryMs) {
    const { rows } = await db.query<{ answer: WorkersChecks }>("delete from diagnoses where id = $1 returning answer", [
      id,
    ]);
    if (rows[0]) return rows[0].answer;
    await pause(lookEveryMs);
  }
  return null;
}

/** An answer that nobody fetches is deleted by a later one. */
export async function answerDiagnosis(db: Queryable, id: string, checks: readonly ProjectCheck[]): Promise<void> {
  await db.query("delete from diagnoses where created_at < clock_timestamp() - interval '1 hour'");
  await db.query("insert into diagnoses (id, answer) values ($1, $2) on conflict do nothing", [
    id,
    toJsonb({ host: hostname(), checks }),
  ]);
}
