import type { Claim } from "@emend/contract";
import { startApi, type TestApi } from "@emend/testkit/api.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeSiteCheck } from "../../health/site-checks.ts";

let api: TestApi;
let path: string;
let key: string;
const asked: string[] = [];
const looks: string[] = [];
beforeAll(async () => {
  api = await startApi({
    askClaimPoll: async (projectId) => void asked.push(projectId),
    askGate: async (projectId) => void looks.push(projectId),
  });
  const project = await api.addProject();
  path = `/v2/agent/${project.id}/claims`;
  key = await api.addKey(project);
  await api.pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     values ('ctx_1', $1, 'api', 'github', 'https://github.test/acme/api')`,
    [project.id],
  );
});
afterAll(() => api.close());

test("200: gates of the project alone, with their places, and what the newest check found", async () => {
  const other = await api.addProject();
  const [, , , projectId] = path.split("/");
  const pull = { url: "https://forge.test/3", title: "Rename", head: "topic", base: "main", isFork: false };
  const finding = { check: "stale-reference", severity: "error", path: "a.md", line: 7, message: "`--out` is removed" };
  for (const [id, owner, contextId] of [
    ["gat_own", projectId, "ctx_1"],
    ["gat_other", other.id, null],
  ]) {
    await api.pool.query(
      `insert into gate_statuses (id, project_id, context_id, repository, head, name, number, pull, state, words, findings)
       values ($1, $2, $3, $1, 'c1', 'emend', 3, $4, 'failed', 'Found.', $5)`,
      [id, owner, contextId, pull, JSON.stringify([{ ...finding, causes: ["src/cli.ts"] }])],
    );
  }
  const gates = path.replace("claims", "gates");
  const row = { id: "gat_own", repository: "api", number: 3, title: "Rename", state: "failed" };
  expect((await api.send(gates, { key })).json).toMatchObject({ gates: [row] });
  expect((await api.send(`${gates}/gat_own`, { key })).json).toMatchObject({ ...row, findings: [finding] });
  expect((await api.send(`${gates}/gat_own/look`, { method: "POST", key })).status).toBe(202);
  expect(looks).toEqual([projectId]);
  // For another project, and for an unknown one.
  for (const id of ["gat_other", "gat_none", "x%00"]) {
    expect((await api.send(`${gates}/${id}`, { key })).status, id).toBe(404);
    expect((await api.send(`${gates}/${id}/look`, { method: "POST", key })).status, id).toBe(404);
  }
  expect(looks).toHaveLength(1);
  await storeSiteCheck(api.pool, String(projectId), {
    ...{ commit: "c1", branch: "main", framework: "markdown", pages: 1 },
    sources: [{ repository: "api", commit: "c2", problem: null }],
    findings: [{ ...finding, severity: "error", repository: "api", cause: null }],
  });
  expect((await api.send(path.replace("claims", "health"), { key })).json).toMatchObject({
    commit: "c1",
    counts: [{ check: "stale-reference", count: 1 }],
    sources: [{ repository: "api" }],
    findings: [{ ...finding, repository: "api", cause: null }],
  });
});

const post = (body: unknown) => api.send(path, { method: "POST", key, body });

test("201: a claim is new, has a worker look at once, and asked for again is the same one", async () => {
  const answer = await post({ page: "docs/a.md:3-4", source: "@api/src/x.ts:7" });
  expect(answer.status).toBe(201);
  expect(answer.json).toMatchObject({
    state: "new",
    page: { path: "docs/a.md", line: 3, lineEnd: 4, text: null },
    source: { repository: "api", path: "src/x.ts", line: 7, lineEnd: 7 },
    jobId: null,
  });
  expect(asked).toHaveLength(1);
  expect((await post({ page: "docs/a.md:3-4", source: "@api/src/x.ts:7" })).json).toEqual(answer.json);
});

test.each([
  [{}, /"page" and "source"/],
  [{ page: "docs/a.md", source: "x.ts:1" }, /page must be path:line/],
  [{ page: "docs/a.md:1", source: "../x.ts:1" }, /source must be path:line/],
  [{ page: "docs/a.md:9-3", source: "x.ts:1" }, /page must be path:line/],
  [{ page: "docs/a.md:1", source: "x.ts:1-99" }, /at most|more than 60 lines/],
  [{ page: "docs/a.md:1", source: "@web/x.ts:1" }, /no context repository "web". It has: api/],
  [{ page: "docs/a\0.md:1", source: "x.ts:1" }, /must not contain U\+0000/],
])("400: %j", async (body, words) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect((answer.json as { error: string }).error).toMatch(words);
});

test("200: claims are listed by page and line, in pages, of one page and in one state", async () => {
  for (const place of ["docs/b.md:9", "docs/b.md:2", "docs/c.md:1"]) await post({ page: place, source: "x.ts:1" });
  const seen: string[] = [];
  let cursor = "";
  do {
    const { json } = await api.send(`${path}?limit=2${cursor && `&cursor=${cursor}`}`, { key });
    const page = json as { claims: Claim[]; nextCursor: string | null };
    seen.push(...page.claims.map((claim) => `${claim.page.path}:${claim.page.line}`));
    cursor = page.nextCursor ?? "";
  } while (cursor !== "");
  expect(seen).toEqual(["docs/a.md:3", "docs/b.md:2", "docs/b.md:9", "docs/c.md:1"]);
  const ofB = (await api.send(`${path}?page=docs/b.md&state=new`, { key })).json as { claims: Claim[] };
  expect(ofB.claims).toHaveLength(2);
  expect((await api.send(`${path}?state=changed`, { key })).json).toEqual({ claims: [], nextCursor: null });
  for (const bad of ["state=odd", "limit=0", "cursor=e30"]) {
    expect((await api.send(`${path}?${bad}`, { key })).status).toBe(400);
  }
});

test("404: a claim of another project, or an unknown one, cannot be confirmed or removed", async () => {
  const { json } = await post({ page: "docs/d.md:1", source: "x.ts:1" });
  const { id } = json as Claim;
  const other = await api.addProject();
  const foreign = await api.addKey(other);
  const there = path.replace(/prj_[^/]+/, other.id);
  for (const one of [id, "nope", "clm_%00"]) {
    expect((await api.send(`${there}/${one}`, { method: "DELETE", key: foreign })).status).toBe(404);
    expect((await api.send(`${there}/${one}/confirm`, { method: "POST", key: foreign })).status).toBe(404);
  }
  expect((await api.send(`${path}/${id}/confirm`, { method: "POST", key })).status).toBe(409);
  expect((await api.send(`${path}/${id}`, { method: "DELETE", key })).json).toEqual(json);
  expect((await api.send(`${path}/${id}`, { method: "DELETE", key })).status).toBe(404);
});
