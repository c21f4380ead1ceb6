import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { personGit, startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { getPullRequest } from "./pull-requests.ts";

const project = "prj_pages";
let host: TestForge;
let work: string;
let origin: string;

beforeAll(async () => {
  host = await startTestForge({ basePath: "/base" });
  origin = new URL(host.url).origin;
  work = join(host.dir, "work");
  await mkdir(work);
  await personGit(work, "init", "--quiet", "--initial-branch=main");
  await writeFile(join(work, "page.md"), "one\ntwo\nthree\n");
  await personGit(work, "add", ".");
  await personGit(work, "commit", "--quiet", "--message=Start");
  await host.addProject(project, work);
  await host.addProject("prj_other");
});
afterAll(() => host.close());

async function openPull(branch: string, file: string, text: string, more: { draft?: boolean } = {}) {
  await personGit(work, "switch", "--quiet", "--force-create", branch, "main");
  await writeFile(join(work, file), text);
  await personGit(work, "add", ".");
  await personGit(work, "commit", "--quiet", "--message=Edit");
  await personGit(work, "push", "--quiet", join(host.forgeDir, `${project}.git`), branch);
  const draft = { head: branch, base: "main", title: "A change", body: "", draft: false, checks: [], ...more };
  const created = await host.open(project).createPullRequest(draft, host.signal);
  if (created.kind !== "created") throw new Error("not created");
  return created.pullRequest;
}

const bearer = (scope: "read" | "write", of = project) => ({ authorization: `Bearer ${host.keyOf(of, scope)}` });
const post = (url: string, headers: Record<string, string>, body = "") =>
  fetch(url, {
    method: "POST",
    redirect: "manual",
    body,
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });
const stateOf = async (number: number) => (await getPullRequest(host.database.pool, project, number))?.state;

describe("statuses", () => {
  const commit = "0123456789abcdef0123456789abcdef01234567";
  const report = (form: Record<string, string>, headers: Record<string, string> = bearer("write"), of = commit) =>
    post(`${host.url}/forge/${project}/statuses/${of}`, headers, new URLSearchParams(form).toString());

  it("are set by a program with a write key, and read as results of CI", async () => {
    const log = `${"x".repeat(10_000)} the end`;
    const form = { name: "links", state: "failed", description: "2 dead links", url: "https://ci.test/1", log };
    expect((await report(form, bearer("read"))).status).toBe(403);
    expect((await report(form, bearer("write", "prj_other"))).status).toBe(404);
    expect((await report(form, { ...bearer("write"), origin: "https://evil.example" })).status).toBe(403);
    const { checks } = host.open(project);
    expect(await checks?.report({ commit, pull: null }, host.signal)).toEqual({ checks: [], isWhole: true });
    expect((await report(form)).status).toBe(201);
    expect((await report({ name: "build", state: "pending" })).status).toBe(201);
    expect((await report({ name: "build", state: "passed" })).status).toBe(201);
    expect((await checks?.report({ commit, pull: null }, host.signal))?.checks).toEqual([
      { name: "build", state: "passed", words: "", log: null },
      { name: "links", state: "failed", words: "2 dead links", log: "links" },
    ]);
    expect(await checks?.readLog({ commit, log: "links" }, host.signal)).toMatch(/^x{5992} the end$/);
  });

  it("are at most 200 for a commit; those that it has still change", async () => {
    const full = "f".repeat(40);
    await host.database.pool.query(
      `insert into local_statuses (project_id, commit_id, name, state, words, url)
       select $1, $2, 'build ' || n, 'pending', '', '' from generate_series(1, 200) n`,
      [project, full],
    );
    expect((await report({ name: "one more", state: "passed" }, bearer("write"), full)).status).toBe(409);
    expect((await report({ name: "build 200", state: "passed" }, bearer("write"), full)).status).toBe(201);
  });

  it.each([
    [{ state: "failed" }, "a status needs a name"],
    [{ name: "x", state: "broken" }, "state must be one of pending, passed, failed"],
    [{ name: "x", state: "failed", url: "javascript:alert(1)" }, "url must begin with https://"],
  ])("are refused if something is wrong: %j", async (form, words) => {
    const answer = await report(form as never);
    expect([answer.status, await answer.text()]).toEqual([400, `${words}\n`]);
    expect((await report({ name: "x", state: "failed" }, bearer("write"), "main")).status).toBe(400);
    // Emend's own check, which a merge may wait for.
    expect((await report({ name: "Emend", state: "passed" })).status).toBe(403);
  });
});

describe("links", () => {
  it.each([
    ["/", "/app"],
    [`/forge/${project}/pulls`, `/app/pulls?project=${project}`],
    [`/forge/${project}/pull/7`, `/app/pulls/${project}/7`],
    ["/forge/%2F%2Fevil.example/pulls", "/app/pulls?project=%2F%2Fevil.example"],
    ["/forge/a%2F..%2Fb/pull/%0D%0Ax%3A1", "/app/pulls/a%2F..%2Fb/%0D%0Ax%3A1"],
  ])("leads %s to the dashboard, whoever asks", async (path, page) => {
    for (const headers of [{}, bearer("read")] as Record<string, string>[]) {
      const answer = await fetch(`${host.url}${path}`, { headers, redirect: "manual" });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, `${host.url}${page}`]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });
});

describe("opening with a key", () => {
  const opened = (form: string, headers = bearer("write")) => post(`${host.url}/forge/${project}/pulls`, headers, form);

  it("takes a key that may write, a branch that was pushed and a title", async () => {
    await personGit(work, "switch", "--quiet", "--force-create", "topic/opened", "main");
    await writeFile(join(work, "opened.md"), "o\n");
    await personGit(work, "add", ".");
    await personGit(work, "commit", "--quiet", "--message=Edit");
    await personGit(work, "push", "--quiet", join(host.forgeDir, `${project}.git`), "topic/opened");
    const form = "head=topic/opened&title=A%00+title";
    expect((await opened(form, bearer("read"))).status).toBe(403);
    expect((await opened(form, bearer("write", "prj_other"))).status).toBe(404);
    expect((await opened(form, { ...bearer("write"), origin: "https://evil.example" } as never)).status).toBe(403);
    const answer = await opened(form);
    const number = Number(answer.headers.get("location")?.split("/").at(-1));
    expect(answer.status).toBe(303);
    expect(await getPullRequest(host.database.pool, project, number)).toMatchObject({
      title: "A title",
      baseRef: "main",
      state: "open",
    });
    expect((await opened(form)).status).toBe(409);
  });

  it("says what is wrong with a branch that is not there, or is none, and without a title", async () => {
    expect((await opened("head=topic/none&title=x")).status).toBe(409);
    for (const form of ["head=..&title=x", "title=x", "head=topic/opened", "head=a&base=%2Dx&title=x"]) {
      expect((await opened(form)).status).toBe(400);
    }
  });
});

describe("merging with a key", () => {
  it("takes a key that may write, and POST", async () => {
    const { url, number } = await openPull("topic/merge", "merged.md", "merged\n");
    const merge = `${url}/merge`;
    expect((await fetch(merge, { headers: bearer("write") })).status).toBe(404);
    expect((await post(merge, {})).status).toBe(401);
    expect((await post(merge, { authorization: "Bearer key-no" })).status).toBe(401);
    expect((await post(merge, bearer("write", "prj_other"))).status).toBe(404);
    expect((await post(merge, bearer("read"))).status).toBe(403);
    expect(await stateOf(number)).toBe("open");

    const moved = await post(merge, bearer("write"), `head=${"0".repeat(40)}`);
    expect([moved.status, await moved.text()]).toEqual([409, expect.stringContaining("The branch changed")]);
    const head = await personGit(work, "rev-parse", "topic/merge");
    const merged = await post(merge, bearer("write"), `head=${head}`);
    expect([merged.status, merged.headers.get("location")]).toEqual([303, url]);
    expect(await stateOf(number)).toBe("merged");
  });

  it("does nothing for another site, or for a browser's session", async () => {
    const { url, number } = await openPull("topic/foreign", "foreign.md", "f\n");
    const remembered = { authorization: `Basic ${btoa(`anyone:${host.keyOf(project, "write")}`)}` };
    for (const headers of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { origin: `${origin}.evil.example` },
      { origin, "sec-fetch-site": "cross-site" },
    ] as Record<string, string>[]) {
      expect((await post(`${url}/merge`, { ...remembered, ...headers })).status).toBe(403);
    }
    expect((await post(`${url}/close`, { cookie: "emend_session=anything", origin })).status).toBe(401);
    expect(await stateOf(number)).toBe("open");
    expect((await post(`${url}/close`, remembered)).status).toBe(303);
    expect(await stateOf(number)).toBe("closed");
  });

  it("says what both sides changed", async () => {
    const left = await openPull("topic/left", "page.md", "one\nLEFT\nthree\n");
    const right = await openPull("topic/right", "page.md", "one\nRIGHT\nthree\n");
    expect((await post(`${left.url}/merge`, bearer("write"))).status).toBe(303);
    const refused = await post(`${right.url}/merge`, bearer("write"));
    expect([refused.status, await refused.text()]).toEqual([409, "Both sides changed page.md.\n"]);
  });

  it("asks for a draft to be marked ready, and closes for good", async () => {
    const { url, number } = await openPull("topic/draft", "draft.md", "d\n", { draft: true });
    expect((await post(`${url}/merge`, bearer("write"))).status).toBe(409);
    expect((await post(`${url}/ready`, bearer("write"))).status).toBe(303);
    expect((await post(`${url}/close`, bearer("write"))).status).toBe(303);
    expect(await stateOf(number)).toBe("closed");
    expect((await post(`${url}/merge`, bearer("write"))).status).toBe(409);
  });

  it("404 for a foreign, an unknown and a malformed pull request; 400 for a body that is no form", async () => {
    const paths = [`${project}/pull/999`, `${project}/pull/1e3`, "prj_none/pull/1", "%00/pull/1"];
    for (const path of paths) {
      expect((await post(`${host.url}/forge/${path}/merge`, bearer("write"))).status).toBe(404);
    }
    const { url } = await openPull("topic/form", "form.md", "f\n");
    const json = { ...bearer("write"), "content-type": "application/json" };
    expect((await post(`${url}/merge`, json, "{}")).status).toBe(400);
    expect((await post(`${url}/merge`, bearer("write"), "a".repeat(70_000))).status).toBe(400);
  });
});
