import { startApi } from "@emend/testkit/api.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, describe, expect, test } from "vitest";

interface Page {
  jobs: { id: string; status: string }[];
  nextCursor: string | null;
}

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project, { scope: "read" });
const path = `/v2/agent/${project.id}/jobs`;
const ids: string[] = [];
for (let number = 0; number < 7; number += 1) ids.unshift(await seedJob(api.pool, project.id));
ids.sort().reverse();
const failed = ids.filter((_id, index) => index % 2 === 0);
for (const id of failed) await alterJob(api.pool, id, "status = 'failed', failure_code = 'timeout', ref = null");

async function list(query = ""): Promise<Page> {
  const answer = await api.send(`${path}${query}`, { key });
  expect(answer.status).toBe(200);
  return answer.json as Page;
}
async function walk(query: string): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Page = await list(`?${query}${cursor && `&cursor=${cursor}`}`);
    found.push(...page.jobs.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return found;
}

describe("200", () => {
  test("all jobs, newest first, as the get operation shows them", async () => {
    const page = await list();
    expect(page.jobs.map(({ id }) => id)).toEqual(ids);
    expect(page.nextCursor).toBeNull();
    const { json } = await api.send(`/v2/agent/${project.id}/job/${ids[0]}`, { key });
    expect(page.jobs[0]).toEqual(json);
  });

  test.each([1, 2, 3, 7, 100])("page by page, %i at a time: each job once", async (limit) => {
    expect(await walk(`limit=${limit}`)).toEqual(ids);
    expect(await walk(`limit=${limit}&status=failed`)).toEqual(failed);
  });

  test("a job that is created between two pages moves none of them", async () => {
    const first = await list("?limit=3");
    const created = await seedJob(api.pool, project.id);
    const second = await list(`?limit=100&cursor=${first.nextCursor}`);
    expect([...first.jobs, ...second.jobs].map(({ id }) => id)).toEqual(ids);
    await api.pool.query("delete from jobs where id = $1", [created]);
  });

  test("only the project's own", async () => {
    const other = await api.addProject();
    await seedJob(api.pool, other.id);
    expect((await list()).jobs).toHaveLength(ids.length);
  });

  test("a project without jobs has one empty page", async () => {
    const empty = await api.addProject();
    const answer = await api.send(`/v2/agent/${empty.id}/jobs`, { key: await api.addKey(empty) });
    expect(answer.json).toEqual({ jobs: [], nextCursor: null });
  });
});

describe("400", () => {
  test.each(["0", "101", "-1", "1.5", "1e1", "", "x", "9999999999"])("limit=%s", async (limit) => {
    expect((await api.send(`${path}?limit=${limit}`, { key })).status).toBe(400);
  });

  test("a status that there is not, and a parameter given twice", async () => {
    for (const query of ["status=done", "status=", "status=active&status=failed", "limit=1&limit=2"]) {
      expect((await api.send(`${path}?${query}`, { key })).status).toBe(400);
    }
  });

  test("a cursor that was altered, made up, or given by another listing", async () => {
    const { nextCursor } = await list("?limit=2");
    const cursor = nextCursor as string;
    const otherId = Buffer.from(Buffer.from(cursor, "base64url").toString().replace(/^.*\./, "job_zzz.")).toString(
      "base64url",
    );
    const other = await api.addProject();
    const otherKey = await api.addKey(other);
    for (const forged of ["", "x", ids[0], otherId, `${cursor}A`, cursor.slice(1), cursor.toLowerCase(), "%00"]) {
      expect((await api.send(`${path}?cursor=${forged}`, { key })).status, forged).toBe(400);
    }
    expect((await api.send(`${path}?status=failed&cursor=${cursor}`, { key })).status).toBe(400);
    expect((await api.send(`/v2/agent/${other.id}/jobs?cursor=${cursor}`, { key: otherKey })).status).toBe(400);
  });
});
