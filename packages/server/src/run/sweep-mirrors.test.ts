import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import type { Mirror, Mirrors } from "@emend/tree";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTidying, sweepMirrors } from "./worker.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
beforeEach(async () => {
  database = await createTestDatabase();
  await database.pool.query(
    `insert into projects (id, name, forge, repository_url) values ('prj_1', 'Docs', 'local', 'http://localhost/x')`,
  );
  await database.pool.query(
    `insert into jobs (id, project_id, status, prompt, model, repository_url, branch, created_by)
     values ('job_active', 'prj_1', 'active', 'x', 'm', 'u', 'b', 'test'),
            ('job_final', 'prj_1', 'completed', 'x', 'm', 'u', 'b', 'test')`,
  );
  await database.pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url) values ('ctx_1', 'prj_1', 'Code', 'local', 'http://localhost/y')`,
  );
});
afterEach(() => database.drop());

it("releases the pins of final and unknown jobs, keeps those of active ones, and removes mirrors of deleted projects", async () => {
  const released: string[] = [];
  const mirror = {
    pinnedJobs: async () => ["job_active", "job_final", "job_gone"],
    tidy: async (jobIds: readonly string[]) => void released.push(...jobIds),
  } as Partial<Mirror> as Mirror;
  const removed: string[] = [];
  const mirrors: Mirrors = {
    open: async () => mirror,
    projects: async () => ["prj_1", "ctx_1", "prj_gone"],
    maintain: async (_, unwanted) => {
      removed.push(...(unwanted?.projects ?? []));
      return { collected: 0, removed: removed.length, bytes: 0 };
    },
    close: async () => {},
  };
  await sweepMirrors({ pool: database.pool, mirrors }, new AbortController().signal, null);
  expect(released.slice(0, 2)).toEqual(["job_final", "job_gone"]);
  expect(released).not.toContain("job_active");
  expect(removed).toEqual(["prj_gone"]);
});

it("tidies a project after every twenty of its jobs, beside them, and again after a failure", async () => {
  const tidied: string[] = [];
  const tidying = createTidying({
    log: createLogger({ level: "silent" }),
    async tidy(projectId) {
      tidied.push(projectId);
      throw new Error("busy");
    },
  });
  for (let n = 0; n < 45; n += 1) tidying.settled("prj_busy");
  for (let n = 0; n < 19; n += 1) tidying.settled("prj_quiet");
  await expect.poll(() => tidied).toEqual(["prj_busy", "prj_busy"]);
  await tidying.stop();
});
