import { setTimeout } from "node:timers/promises";
import type { Logger } from "@emend/base/logger.ts";
import { channels } from "../db/listener.ts";
import type { Queryable } from "../db/pool.ts";

/** Tells idle workers that a project has a due job. Only a hint: workers also poll every second. */
export type AnnounceDue = (projectId: string) => void;

/** A worker that was just notified about a project is not notified again immediately. */
const pauseMs = 5;

/**
 * Not sent with the insert: Postgres serializes the commits of transactions that notify, disk write included, which
 * would halve the create throughput of many clients. The first job is announced immediately, and those that follow
 * closely are announced together.
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
