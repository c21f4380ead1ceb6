import { mkdir, writeFile } from "node:fs/promises";
import { get } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { personGit, startTestForge, type TestForge } from "../../../test/support/forge.ts";
import { getPullRequest } from "./pull-requests.ts";

const project = "prj_pages";
let host: TestForge;
let work: string;
let origin: string;
let cookie: string;

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
  const login = await fetch(await host.loginLink(`/forge/${project}/pulls`), { redirect: "manual" });
  cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
});
afterAll(() => host.close());

async function openPull(
  branch: string,
  edit: () => Promise<void>,
  more: { title?: string; body?: string; draft?: boolean } = {},
) {
  await personGit(work, "switch", "--quiet", "--force-create", branch, "main");
  await edit();
  await personGit(work, "add", ".");
  await personGit(work, "commit", "--quiet", "--message=Edit");
  await personGit(work, "push", "--quiet", join(host.forgeDir, `${project}.git`), branch);
  const draft = { head: branch, base: "main", title: "A change", body: "", draft: false, checks: [], ...more };
  const created = await host.open(project).createPullRequest(draft, host.signal);
  if (created.kind !== "created") throw new Error("not created");
  return created.pullRequest;
}

const bySession = (url: string, init: RequestInit = {}) =>
  fetch(url, { redirect: "manual", ...init, headers: { cookie, ...(init.headers as Record<string, string>) } });
const post = (url: string, headers: Record<string, string>, body = "") =>
  fetch(url, {
    method: "POST",
    redirect: "manual",
    body,
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });
async function visitAsBrowser(url: string, headers: Record<string, string>) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status?: number; location?: string }>();
  get(url, { headers: { "sec-fetch-mode": "navigate", ...headers } }, (response) => {
    response.resume();
    resolve({ status: response.statusCode, location: response.headers.location });
  }).on("error", reject);
  return promise;
}
const stateOf = async (number: number) => (await getPullRequest(host.database.pool, project, number))?.state;

describe("the login link", () => {
  it("logs one browser in and lands where it was made for; then it is gone", async () => {
    const link = await host.loginLink(`${host.url}/forge/${project}/pulls`);
    expect((await fetch(link, { method: "HEAD" })).status).toBe(404);
    expect((await fetch(link, { headers: { "sec-purpose": "prefetch" } })).status).toBe(503);
    const first = await fetch(link, { redirect: "manual" });
    expect(first.status).toBe(303);
    expect(first.headers.get("location")).toBe(`${host.url}/forge/${project}/pulls`);
    expect(first.headers.get("set-cookie")).toMatch(/^emend_session=[\w-]{43}; .*Path=\/base; HttpOnly; SameSite=Lax$/);
    const second = await fetch(link, { redirect: "manual" });
    expect(second.status).toBe(410);
    expect(await second.text()).toContain("emend user link");
  });
});

describe("the first page", () => {
  it("lists the projects that the reader may see", async () => {
    expect((await fetch(`${host.url}/`)).status).toBe(401);
    const all = await (await bySession(`${host.url}/`)).text();
    expect(all).toContain(`/base/forge/${project}/pulls`);
    expect(all).toContain("/base/forge/prj_other/pulls");
    const headers = { authorization: `Bearer ${host.keyOf("prj_other", "read")}` };
    const own = await (await fetch(`${host.url}/`, { headers })).text();
    expect(own).not.toContain(project);
    expect(own).toContain("prj_other");
  });
});

describe("reading a pull request", () => {
  it("takes a session or a key, and says in words how to get in", async () => {
    const { url } = await openPull("topic/read", () => writeFile(join(work, "page.md"), "one\nTWO\nthree\n"));
    const anonymous = await fetch(url);
    expect(anonymous.status).toBe(401);
    expect(await anonymous.text()).toContain("emend user link");
    expect((await bySession(url)).status).toBe(200);
    const key = host.keyOf(project, "read");
    expect((await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    // A wrong key is not helped out by a good cookie.
    expect((await bySession(url, { headers: { authorization: "Bearer key-no" } })).status).toBe(401);
  });

  it("shows a foreign, an unknown and a malformed project alike", async () => {
    const headers = { authorization: `Bearer ${host.keyOf("prj_other", "write")}` };
    const pages = new Set<string>();
    for (const path of [
      `/forge/${project}/pulls`,
      `/forge/${project}/pull/1`,
      "/forge/prj_none/pulls",
      "/forge/%00/pulls",
    ]) {
      const response = await fetch(`${host.url}${path}`, { headers });
      expect(response.status).toBe(404);
      pages.add(await response.text());
    }
    expect(pages.size).toBe(1);
    expect((await bySession(`${host.url}/forge/%00/pulls`)).status).toBe(404);
    expect((await bySession(`${host.url}/forge/${project}/pull/999`)).status).toBe(404);
    expect((await bySession(`${host.url}/forge/${project}/pull/1e3`)).status).toBe(404);
  });

  it("makes four pull requests' pages at once for a key, and asks it to come back for more", async () => {
    const client = await host.database.pool.connect();
    await client.query("begin; lock table local_pull_requests in access exclusive mode");
    const headers = { authorization: `Bearer ${host.keyOf(project, "read")}` };
    const asked = Array.from({ length: 5 }, () => fetch(`${host.url}/forge/${project}/pull/999`, { headers }));
    const first = await Promise.race(asked);
    await client.query("rollback");
    client.release();
    expect([first.status, first.headers.get("retry-after")]).toEqual([503, "1"]);
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).toHaveLength(4);
  });

  it("lets no browser run, frame or load anything", async () => {
    const response = await bySession(`${host.url}/forge/${project}/pulls`);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/script-src|unsafe|https?:/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const page = await response.text();
    expect(page).not.toMatch(/<script|style="|onclick/);
    const style = /href="([^"]+\.css)"/.exec(page)?.[1] ?? "";
    expect(style).toMatch(/^\/base\/forge\/style-/);
    expect((await fetch(`${origin}${style}`)).headers.get("content-type")).toContain("text/css");
  });

  it("escapes what repositories, agents and people wrote, and shows what would be unseen", async () => {
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202E';
    const { url } = await openPull(
      "topic/evil",
      async () => {
        await writeFile(join(work, "<script>'\" .md"), `${evil}\n`);
        await writeFile(join(work, "page.md"), `one\ntwo${evil}\nthree\n`);
      },
      {
        title: `T ${evil}`,
        body: `B ${evil} ![i](https://evil.example/i.png) [l](https://x.example) [j](javascript:alert(1))
\n<!-- theirs -->\n\n<!-- emend:text=${"0f".repeat(8)} -->\n\n<!-- emend:round=1 -->\n<!-- emend:job=job_1 -->\n`,
      },
    );
    const page = await (await bySession(url)).text();
    expect(page).not.toMatch(/<script|<img|\u202e|href="javascript:/);
    expect(page).toContain("U+202E");
    expect(page).toContain('rel="nofollow noreferrer"');
    expect(page).toContain("&lt;!-- theirs --&gt;");
    expect(page).not.toContain("emend:");
    expect(page).toContain("two");
  });

  it("stays bounded however large the change is", async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index}`).join("\n");
    const { url } = await openPull("topic/large", async () => {
      await writeFile(join(work, "huge.md"), lines);
      await writeFile(join(work, "long-line.md"), "x".repeat(3_000_000));
      await writeFile(join(work, "zz.md"), "small\n");
    });
    const response = await bySession(url);
    const page = await response.text();
    expect(page.length).toBeLessThan(200_000);
    expect(page).toContain("+30000");
    expect(page).toContain("Too much to show here");
  });
});

describe("where the dashboard is built", () => {
  it("leads browsers there, and shows programs and keys the page itself", async () => {
    const built = await startTestForge({ dashboardUrl: "https://emend.test/app" });
    try {
      await built.addProject("prj_built");
      const visit = async (path: string, headers: Record<string, string> = {}) => {
        // No script may set the header that says so: sent here as a browser's own visit sends it.
        const response = await visitAsBrowser(`${built.url}${path}`, headers);
        return [response.status, response.location];
      };
      expect(await visit("/")).toEqual([303, "https://emend.test/app"]);
      expect(await visit("/forge/prj_built/pulls")).toEqual([303, "https://emend.test/app/pulls?project=prj_built"]);
      expect(await visit("/forge/prj_built/pull/7")).toEqual([303, "https://emend.test/app/pulls/prj_built/7"]);
      expect(await visit("/forge/%2F%2Fevil.example/pulls")).toEqual([
        303,
        "https://emend.test/app/pulls?project=%2F%2Fevil.example",
      ]);
      const key = { authorization: `Bearer ${built.keyOf("prj_built", "read")}` };
      expect(await visit("/forge/prj_built/pulls", key)).toEqual([200, undefined]);
      expect((await fetch(`${built.url}/forge/prj_built/pulls`, { headers: key })).status).toBe(200);
    } finally {
      await built.close();
    }
  });
});

describe("merging by button", () => {
  it("takes our own origin, the write right and POST", async () => {
    const { url, number } = await openPull("topic/merge", () => writeFile(join(work, "merged.md"), "merged\n"));
    const page = await (await bySession(url)).text();
    const head = /name="head" value="([0-9a-f]{40})"/.exec(page)?.[1] ?? "";
    const merge = `${url}/merge`;
    expect((await bySession(merge)).status).toBe(404);
    for (const headers of [
      { cookie },
      { cookie, origin: "https://evil.example" },
      { cookie, origin: "null" },
      { cookie, origin, "sec-fetch-site": "cross-site" },
      { cookie, origin: `${origin}.evil.example` },
    ] as Record<string, string>[]) {
      expect((await post(merge, headers, `head=${head}`)).status).toBe(403);
    }
    expect((await post(merge, { origin })).status).toBe(401);
    const readKey = { authorization: `Bearer ${host.keyOf(project, "read")}` };
    expect((await post(merge, readKey)).status).toBe(403);
    expect(await stateOf(number)).toBe("open");

    expect((await post(merge, { cookie, origin }, `head=${"0".repeat(40)}`)).status).toBe(409);
    expect(await stateOf(number)).toBe("open");
    const merged = await post(merge, { cookie, origin, "sec-fetch-site": "same-origin" }, `head=${head}`);
    expect([merged.status, merged.headers.get("location")]).toEqual([303, url]);
    expect(await stateOf(number)).toBe("merged");
    const after = await (await bySession(url)).text();
    expect(after).toContain("merged.md");
    expect(after).not.toContain(">Merge<");
  });

  it("tells a conflict on the page", async () => {
    const edit = (text: string) => () => writeFile(join(work, "page.md"), `one\n${text}\nthree\n`);
    const left = await openPull("topic/left", edit("LEFT"));
    const right = await openPull("topic/right", edit("RIGHT"));
    const key = { authorization: `Bearer ${host.keyOf(project, "write")}` };
    expect((await post(`${left.url}/merge`, key)).status).toBe(303);
    const page = await (await bySession(right.url)).text();
    expect(page).toContain("Conflicts");
    expect(page).not.toContain(">Merge<");
    const refused = await post(`${right.url}/merge`, key);
    expect(refused.status).toBe(409);
    expect(await refused.text()).toContain("Both sides changed page.md.");
  });

  it("asks for a draft to be marked ready, and closes for good", async () => {
    const { url, number } = await openPull("topic/draft", () => writeFile(join(work, "draft.md"), "d\n"), {
      draft: true,
    });
    expect(await (await bySession(url)).text()).not.toContain(">Merge<");
    expect((await post(`${url}/ready`, { cookie, origin })).status).toBe(303);
    expect(await (await bySession(url)).text()).toContain(">Merge<");
    expect((await post(`${url}/close`, { cookie, origin })).status).toBe(303);
    expect(await stateOf(number)).toBe("closed");
    expect((await post(`${url}/merge`, { cookie, origin })).status).toBe(409);
  });

  it("refuses a form that is none", async () => {
    const { url } = await openPull("topic/form", () => writeFile(join(work, "form.md"), "f\n"));
    const headers = { cookie, origin };
    expect((await post(`${url}/merge`, { ...headers, "content-type": "application/json" }, "{}")).status).toBe(400);
    expect((await post(`${url}/merge`, headers, "a".repeat(20_000))).status).toBe(400);
  });
});

it("503 for a pull request while the same person opens several at once", async () => {
  const { url } = await openPull("topic/many", () => writeFile(join(work, "many.md"), "m\n"));
  const answers = await Promise.all(Array.from({ length: 12 }, () => bySession(url)));
  for (const answer of answers) await answer.text();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 503]));
  expect((await bySession(url)).status).toBe(200);
});

describe("logging out", () => {
  it("ends the session, from our own pages only", async () => {
    const login = await fetch(await host.loginLink("/forge/x/pulls"), { redirect: "manual" });
    const session = { cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "" };
    expect((await post(`${host.url}/logout`, { ...session, origin: "https://evil.example" })).status).toBe(403);
    expect((await fetch(`${host.url}/forge/${project}/pulls`, { headers: session })).status).toBe(200);
    const out = await post(`${host.url}/logout`, { ...session, origin });
    expect(out.headers.get("set-cookie")).toContain("Max-Age=0");
    expect((await fetch(`${host.url}/forge/${project}/pulls`, { headers: session })).status).toBe(401);
  });
});
