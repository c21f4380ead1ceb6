import { startApi } from "@emend/testkit/api.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, expect, test } from "vitest";
import { createSealer } from "../accounts/secrets.ts";
import { inTransaction } from "../db/transaction.ts";
import { endRun } from "../jobs/run/end-run.ts";
import { archiveByRetention } from "../tasks/housekeeping.ts";
import { listDeliveries } from "./deliveries.ts";
import { addWebhook } from "./webhooks.ts";

const api = await startApi();
afterAll(() => api.close());
const sealer = createSealer("a secret of the tests, and of nothing else");
const project = await api.addProject();
const key = await api.addKey(project);
const { id: webhookId } = await addWebhook(
  { db: api.pool, sealer, allowPrivate: false },
  { projectId: project.id, url: "https://example.com/hook" },
);
const token = "6f1c1f0e-0000-4000-8000-000000000004";
const lease = `lease = '${token}', lease_until = now() + interval '1 minute'`;

async function told(jobId: string): Promise<{ event: string; payload: unknown }[]> {
  const all = await listDeliveries(api.pool, webhookId);
  return all.filter((delivery) => delivery.jobId === jobId).toReversed();
}
const post = (id: string, action: string) =>
  api.send(`/v2/agent/${project.id}/job/${id}/${action}`, { method: "POST", key });

test("each outcome of a job is sent once, with the job as the API shows it", async () => {
  const completed = await seedJob(api.pool, project.id);
  await alterJob(api.pool, completed, lease);
  await endRun(api.pool, { jobId: completed, token }, { kind: "completed", summary: "Done." });
  const failed = await seedJob(api.pool, project.id);
  await alterJob(api.pool, failed, lease);
  await endRun(api.pool, { jobId: failed, token }, { kind: "failed", code: "timeout", message: "Too long." });
  const cancelled = await seedJob(api.pool, project.id);
  await post(cancelled, "cancel");
  await post(cancelled, "cancel");
  const archived = await seedJob(api.pool, project.id);
  await post(archived, "archive");
  const kept = await seedJob(api.pool, project.id);
  await alterJob(api.pool, kept, "status = 'completed', ended_at = now() - interval '10 days'");
  await archiveByRetention(api.pool, 5);

  const expected = {
    [completed]: ["job.completed"],
    [failed]: ["job.failed"],
    [cancelled]: ["job.failed"],
    [archived]: ["job.archived"],
    [kept]: ["job.completed", "job.archived"],
  };
  for (const [id, events] of Object.entries(expected)) {
    const messages = await told(id);
    expect(messages.map(({ event }) => event)).toEqual(events);
    const { json } = await api.send(`/v2/agent/${project.id}/job/${id}`, { key });
    expect(messages.at(-1)?.payload).toMatchObject({
      type: events.at(-1),
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { projectId: project.id, job: json },
    });
  }
  expect((await told(cancelled))[0]?.payload).toMatchObject({ data: { failure: { code: "cancelled" } } });
});

test("a change that is taken back tells nothing", async () => {
  const id = await seedJob(api.pool, project.id);
  const undone = inTransaction(api.pool, async (client) => {
    await client.query("update jobs set status = 'failed', lease = null where id = $1", [id]);
    throw new Error("taken back");
  });
  await expect(undone).rejects.toThrow("taken back");
  expect(await told(id)).toEqual([]);
});

test("a merged or closed local pull request is sent to webhooks, and shown on the job's run and events", async () => {
  for (const [number, state] of [
    [1, "merged"],
    [2, "closed"],
  ] as const) {
    const id = await seedJob(api.pool, project.id);
    const pullRequest = { number, url: `https://emend.test/${number}`, state: "open", draft: false };
    await api.pool.query("update jobs set pull_request = $2 where id = $1", [id, pullRequest]);
    await api.pool.query(
      `insert into local_pull_requests (project_id, number, head_ref, base_ref, title, body, base_commit, head_commit)
       values ($1, $2, $3, 'main', '', '', 'a', 'b')`,
      [project.id, number, `emend/${id}`],
    );
    for (const _again of [1, 2]) {
      await api.pool.query("update local_pull_requests set state = $3 where project_id = $1 and number = $2", [
        project.id,
        number,
        state,
      ]);
    }
    expect((await told(id)).map(({ event }) => event)).toEqual([`pull_request.${state}`]);
    const { json } = await api.send(`/v2/agent/${project.id}/job/${id}/run`, { key });
    expect(json).toMatchObject({ pullRequest: { number, state } });
    const { rows } = await api.pool.query("select seq, kind from job_events where job_id = $1 order by seq", [id]);
    expect(rows.at(-1)).toEqual({ seq: 2, kind: "pull_request" });
  }
});

test("a webhook gets only its chosen events of its own project", async () => {
  const other = await api.addProject();
  const { id: picky } = await addWebhook(
    { db: api.pool, sealer, allowPrivate: false },
    { projectId: other.id, url: "https://example.com/", events: ["job.failed"] },
  );
  for (const status of ["completed", "failed"]) {
    const id = await seedJob(api.pool, other.id);
    await alterJob(api.pool, id, `status = '${status}'`);
  }
  expect((await listDeliveries(api.pool, picky)).map(({ event }) => event)).toEqual(["job.failed"]);
});
