import { createLogger } from "@emend/base/logger.ts";
import { createAnswerMemory } from "@emend/forges";
import { createWriteQueue } from "@emend/publish";
import { createFollowUp } from "../../server/src/compose/follow-up.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import { answerComment, answerMessage, type OutboxDeps } from "../../server/src/run/pull-request-outbox.ts";
import type { WatchDeps } from "../../server/src/run/watch-pull-requests.ts";
import type { FarEnd } from "./forges/far-end.ts";
import { openPull, plainPull } from "./forges/pulls.ts";
import { seedJob } from "./seed-jobs.ts";

const { signal } = new AbortController();

/** The only job: it has ended, and its pull request is open on the fake server of a forge. */
export async function seedJobPull(pool: Pool, far: FarEnd, projectId: string) {
  await pool.query("delete from jobs");
  await pool.query("delete from poll_turns");
  await pool.query("delete from tasks where kind = 'answer_message'");
  const jobId = await seedJob(pool, projectId);
  const head = `emend/${jobId}`;
  const commit = far.makeBranch(head);
  const opened = openPull(far.state, plainPull({ head, base: "main", title: "T", body: "" }));
  if (opened.kind !== "opened") throw new Error(opened.kind);
  const { number } = opened.pull;
  await pool.query("update jobs set status = 'completed', ended_at = now(), pull_request = $2 where id = $1", [
    jobId,
    { number, url: "http://x", state: "open", draft: false },
  ]);
  const outbox: OutboxDeps = { pool, writes: createWriteQueue(), forgeOf: async () => far.open() };
  const deps: WatchDeps = {
    pool,
    log: createLogger({ level: "silent" }),
    answers: createAnswerMemory(),
    forgeOf: async (_projectId, polling) => far.open({}, far.token, polling),
    // As its task does.
    askAnswer: (answer) => answerComment(outbox, answer, signal),
    findConflicts: async () => false,
    followUp: createFollowUp({ pool, promptCodePointsMax: 100_000, listPages: async () => [] }),
  };
  return {
    jobId,
    number,
    commit,
    deps,
    /** The round ends: by these assignments to its job. */
    async end(assignments: string): Promise<void> {
      await pool.query("update jobs set status = 'active', failure_code = null where id = $1", [jobId]);
      await pool.query(`update jobs set status = 'completed', ended_at = now(), ${assignments} where id = $1`, [jobId]);
    },
    /** What the trigger asked for, as its task sends it. */
    async sendAnswers(forgeOf: OutboxDeps["forgeOf"] = outbox.forgeOf): Promise<void> {
      const { rows } = await pool.query<{ subject: string }>("select subject from tasks where kind = 'answer_message'");
      for (const { subject } of rows) {
        const [id = "", message = ""] = subject.split("/");
        await answerMessage({ ...outbox, forgeOf }, { jobId: id, number: Number(message) }, signal);
      }
    },
    /** Emend's comments on the pull request. */
    answers: () => far.state.comments.filter((one) => one.pull === number && one.author === "emend"),
  };
}
