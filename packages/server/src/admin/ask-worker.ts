import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { type Queryable, toJsonb } from "../db/pool.ts";
import { listNodes } from "../installation/nodes.ts";

const pollEveryMs = 100;

/** A worker's answer, with its host. */
export type Told<T> = T & { host: string };

/** Lets a worker find out something, by a task that `ask` requests. Null: none runs, or none answers in time. */
export async function askWorker<T extends object>(
  db: Queryable,
  ask: (id: string) => Promise<void>,
  { waitMsMax }: { waitMsMax: number },
): Promise<Told<T> | null> {
  if (!(await listNodes(db)).some(({ isAlive, role }) => isAlive && role !== "api")) return null;
  const id = randomUUID();
  await ask(id);
  for (let waitedMs = 0; waitedMs < waitMsMax; waitedMs += pollEveryMs) {
    const { rows } = await db.query<{ answer: Told<T> }>("delete from diagnoses where id = $1 returning answer", [id]);
    if (rows[0]) return rows[0].answer;
    await pause(pollEveryMs);
  }
  return null;
}

/** An answer that nobody fetches is deleted by a later one. */
export async function answerDiagnosis(db: Queryable, id: string, found: object): Promise<void> {
  await db.query("delete from diagnoses where created_at < clock_timestamp() - interval '1 hour'");
  await db.query("insert into diagnoses (id, answer) values ($1, $2) on conflict do nothing", [
    id,
    toJsonb({ ...found, host: hostname() }),
  ]);
}
