import { afterAll, expect, test } from "vitest";
import { createTestDatabase } from "../test/support/database.ts";
import { readEvents, readJob, seedJob, seedProject } from "../test/support/seed-jobs.ts";
import { settlePullRequests } from "./settle-pull-requests.ts";

const { pool, drop } = await createTestDatabase();
afterAll(drop);

test("open pull requests of final jobs are looked up on their forge, and settled once", async () => {
  const projectId = await seedProject(pool);
  await pool.query("update projects set forge = 'github'");
  const states: Record<number, "open" | "merged" | "closed" | null> = { 1: "merged", 2: "closed", 3: "open", 4: null };
  const ids: string[] = [];
  for (const number of [1, 2, 3, 4, 5]) {
    const id = await seedJob(pool, projectId);
    const pullRequest = { number, url: `https://github.test/${number}`, state: "open", draft: false };
    await pool.query("update jobs set pull_request = $2, status = $3, ended_at = now() where id = $1", [
      id,
      pullRequest,
      number === 5 ? "active" : "completed",
    ]);
    ids.push(id);
  }
  const asked: number[] = [];
  const readState = async (_projectId: string, number: number) => {
    asked.push(number);
    return states[number] ?? null;
  };
  expect(await settlePullRequests({ pool, readState })).toBe(2);
  expect(asked.toSorted()).toEqual([1, 2, 3, 4]);
  const stored = await Promise.all(ids.map(async (id) => (await readJob(pool, id)).pull_request.state));
  expect(stored).toEqual(["merged", "closed", "open", "open", "open"]);
  expect((await readEvents(pool, ids[0] as string)).at(-1)).toMatchObject({ kind: "pull_request" });
  expect(await settlePullRequests({ pool, readState })).toBe(0);
});
