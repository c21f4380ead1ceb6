import { setTimeout as pause } from "node:timers/promises";
import { shortTimes } from "@emend/testkit/worker-control.ts";
import { messageJob, messageQuota } from "../../server/src/jobs/message-job.ts";
import type { JobReader } from "../../server/src/jobs/read/job-reader.ts";
import { type Experiment, type Setting, scaled } from "./experiment.ts";
import { killWorkers, seedJobs } from "./worker-kills.ts";

export const conversations: Experiment = {
  name: "conversations",
  claim: "400 jobs that ask a question, 100 workers killed with -9: each asks once, and hears its answer once",
  async run(setting) {
    const { pool, random, history } = setting;
    await seedJobs(setting, scaled(400, setting), () => ({ steps: 3, asks: true, turnMs: 20 + random() * 60 }));
    const over = new AbortController();
    const answering = answerQuestions(setting, over.signal);
    await killWorkers(setting, scaled(100, setting), { ...shortTimes, everyMs: () => random() * 300 });
    over.abort();
    await answering;
    const { rows } = await pool.query<{ id: string; asked: number; heard: number }>(
      `select id, (select count(*)::int from job_events where job_id = jobs.id and kind = 'job.question') as asked,
         (select count(*)::int from steps, jsonb_array_elements(messages) one (message)
          where job_id = jobs.id and message ->> 'from' = 'interjection') as heard
       from jobs`,
    );
    for (const { id, asked, heard } of rows.filter((job) => job.asked !== 1 || job.heard !== 1)) {
      history.add({ kind: "unexpected", what: `${id} asked ${asked} times and heard ${heard} answers` });
    }
  },
};

const lookEveryMs = 20;

/** Answers each job that waits. */
async function answerQuestions({ pool, history }: Setting, signal: AbortSignal): Promise<void> {
  const deps = { pool, reader: { forget() {} } as unknown as JobReader, pullRequestState: async () => null };
  while (!signal.aborted) {
    const { rows } = await pool.query<{ id: string; projectId: string }>(
      `select id, project_id as "projectId" from jobs where status = 'active' and waiting_for = 'answer' and waiting_since is not null`,
    );
    for (const job of rows) {
      const said = await messageJob(deps, messageQuota, { ...job, prompt: "Yes.", createdBy: "key/k" });
      if (said.kind !== "accepted") history.add({ kind: "unexpected", what: `an answer was ${said.kind}` });
    }
    await pause(lookEveryMs);
  }
}
