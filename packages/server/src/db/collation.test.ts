import { createLogger } from "@emend/base/logger.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { runOnServer, withDatabaseName } from "@emend/testkit/server.ts";
import { afterAll, expect, inject, test } from "vitest";
import { listJobs } from "../jobs/read/job-reader.ts";
import { migrate } from "./migrate.ts";
import { createPool } from "./pool.ts";

const { url: serverUrl } = inject("testServer");
const name = `emend_collation_${process.pid}`;
await runOnServer(
  serverUrl,
  `create database ${name} template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'`,
);
const pool = createPool({
  url: withDatabaseName(serverUrl, name),
  connectionsMax: 2,
  log: createLogger({ level: "silent" }),
});
afterAll(async () => {
  await pool.end();
  await runOnServer(serverUrl, `drop database ${name} with (force)`);
});

test("jobs are listed page by page where signs sort before letters", async () => {
  await migrate(pool);
  const projectId = await seedProject(pool);
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push(await seedJob(pool, projectId));
  // Ids of one millisecond are in no order.
  ids.sort().reverse();
  const first = await listJobs(pool, projectId, { status: null, before: null, limit: 2 });
  expect(first.jobs.map((job) => JSON.parse(job).id)).toEqual(ids.slice(0, 2));
  const last = await listJobs(pool, projectId, { status: null, before: first.next, limit: 2 });
  expect(last).toMatchObject({ jobs: [expect.stringContaining(ids[2] ?? "")], next: null });
});
