import { setTimeout } from "node:timers/promises";
import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import type { Logger } from "../lib/logger.ts";

/** Tells idle workers that a project has a job to claim. A hint: they look by themselves every second. */
export type AnnounceDue = (projectId: string) => void;

/** A worker that is told of a project once need not be told again at once. */
const pauseMs = 5;

/**
 * Not sent with the insert: Postgres lets transactions that notify commit only one after the other, disk write
 * included, which would halve what many clients together can create. The first job is announced at once; those that
 * follow closely go out together, since each notice costs a round trip and wakes every listener.
 */
export function createAnnounceDue(deps: { db: Queryable; log: Logger }): AnnounceDue {
  const waiting = new Set<string>();
  let isSending = false;

  async function sendAll(): Promise<void> {
    isSending = true;
    while (waiting.size > 0) {
      const projectIds = [...waiting];
      waiting.clear();
      await send(projectIds).catch((error) =>
        deps.log.warn({ err: error, projectIds }, "could not announce a due job"),
      );
      await setTimeout(pauseMs, undefined, { ref: false });
    }
    isSending = false;
  }

  async function send(projectIds: readonly string[]): Promise<void> {
    await deps.db.query({
      name: "announce-due",
      text: "select pg_notify($1, id) from unnest($2::text[]) id",
      values: [channels.jobDue, projectIds],
    });
  }

  return (projectId) => {
    waiting.add(projectId);
    if (!isSending) void sendAll();
  };
}
