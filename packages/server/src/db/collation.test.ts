// Costly: a collation belongs to a whole database.
import { createLogger } from "@emend/base/logger.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { runOnServer, withDatabaseName } from "@emend/testkit/server.ts";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { listJobs } from "../jobs/read/job-reader.ts";
import { migrate } from "./migrate.ts";
import { createPool, type Pool } from "./pool.ts";

const { url: serverUrl, major } = inject("testServer");
const name = `emend_collation_${process.pid}`;

// Older ones have no databases with an ICU collation. `npm run test:databases` runs more on such.
describe.skipIf(major < 15)("on an ICU collation (Postgres 15 or newer)", () => {
  let pool: Pool;
  beforeAll(async () => {
    const icu = "locale_provider icu icu_locale 'en-US'";
    await runOnServer(serverUrl, `create database ${name} template template0 encoding 'UTF8' ${icu}`);
    const log = createLogger({ level: "silent" });
    pool = createPool({ url: withDatabaseName(serverUrl, name), connectionsMax: 2, log });
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
});
