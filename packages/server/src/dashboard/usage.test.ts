import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

let host: DashboardApi;
let one: string;

beforeAll(async () => {
  host = await startDashboard();
  one = (await host.api.addProject()).id;
  const other = (await host.api.addProject()).id;
  await host.api.pool.query("update projects set name = '=HYPERLINK(\"http://evil\")' where id = $1", [other]);
  const add = (id: string, project: string, model: string, more: string) =>
    host.api.pool.query(
      `insert into jobs (id, project_id, model, prompt, repository_url, branch, created_by, status, failure_code,
         created_at, ended_at, usage, pull_request)
       select $1, $2, $3, 'x', 'u', 'b', 't', ${more}`,
      [id, project, model],
    );
  const now = "clock_timestamp()";
  await add(
    "job_1",
    one,
    "a/x",
    `'completed', null, ${now}, ${now} + interval '2 s',
    '{"inputTokens": 100, "outputTokens": 10, "costUsd": 0.5}', '{"number": 1, "state": "merged"}'`,
  );
  await add("job_2", one, "a/x", `'archived', 'timeout', ${now}, ${now} + interval '4 s', '{"costUsd": 0.25}', null`);
  await add("job_3", other, "b/y", `'active', null, ${now}, null, null, null`);
  await add("job_4", one, "a/x", `'completed', null, ${now} - interval '40 days', ${now}, null, null`);
  await host.api.pool.query("insert into job_messages values ('job_4', 1, 'And more.', 0, 't')");
});
afterAll(() => host.close());

it("sums by day, project and model what was created in those days", async () => {
  const usage = (await host.send("/usage?days=7")).json();
  expect(usage.total).toMatchObject({ jobs: 3, completed: 1, failed: 1, pullRequests: 1, merged: 1, costUsd: 0.75 });
  expect(usage.byDay).toHaveLength(7);
  expect(usage.byDay.at(-1)).toMatchObject({ day: new Date().toISOString().slice(0, 10), jobs: 3, inputTokens: 100 });
  expect(usage.byDay[0]).toMatchObject({ jobs: 0, medianMs: null });
  expect(usage.byProject[0]).toMatchObject({ projectId: one, jobs: 2, completed: 1, failed: 1, medianMs: 3000 });
  expect(usage.byModel.map(({ model, jobs }: { model: string; jobs: number }) => [model, jobs])).toEqual([
    ["a/x", 2],
    ["b/y", 1],
  ]);
  // A follow-up weeks later does not count as the job's duration.
  expect((await host.send("/usage?days=60")).json().total).toMatchObject({ jobs: 4, medianMs: 3000 });
});

it("downloads as CSV that no spreadsheet takes for a formula", async () => {
  const answer = await host.send("/usage.csv?days=7");
  expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
  expect(answer.headers["content-disposition"]).toContain("attachment");
  const lines = answer.body.trimEnd().split("\r\n");
  expect(lines[0]).toMatch(/^day,project id,project,model,jobs/);
  expect(lines).toHaveLength(3);
  expect(answer.body).toContain(`"'=HYPERLINK(""http://evil"")"`);
});

it.each(["0", "367", "x", "1.5", "-1"])("400 for %s days", async (days) => {
  expect((await host.send(`/usage?days=${days}`)).statusCode).toBe(400);
});

it("is what it says on an installation without a job", async () => {
  const empty = await startDashboard();
  const usage = (await empty.send("/usage")).json();
  expect(usage.total).toMatchObject({ jobs: 0, costUsd: 0, medianMs: null });
  expect(usage.byDay).toHaveLength(30);
  await empty.close();
});
