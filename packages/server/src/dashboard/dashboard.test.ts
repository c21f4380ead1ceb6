import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLoginLink } from "../accounts/people/login-links.ts";

let host: DashboardApi;
let project: string;

beforeAll(async () => {
  host = await startDashboard();
  project = (await host.api.addProject()).id;
});
afterAll(() => host.close());

const newKey = (more: object = {}) => ({
  name: "ci",
  projectIds: [project],
  scope: "write",
  expiresInDays: 30,
  allowList: null,
  ...more,
});

describe("the login link", () => {
  it("logs one browser in and lands where it was made for; then it is gone", async () => {
    const link = await createLoginLink(
      { db: host.api.pool, publicUrl: "https://emend.test/base" },
      { landsOn: "/forge/prj_a/pulls" },
    );
    const path = link.slice("https://emend.test/base".length);
    const visit = (more: { method?: "HEAD"; headers?: Record<string, string> } = {}) => host.api.send(path, more);
    expect((await visit({ method: "HEAD" })).status).toBe(405);
    expect((await visit({ headers: { "sec-purpose": "prefetch" } })).status).toBe(503);
    const first = await visit();
    expect([first.status, first.headers.location]).toEqual([303, "https://emend.test/base/forge/prj_a/pulls"]);
    expect(String(first.headers["set-cookie"])).toMatch(/Secure; HttpOnly; SameSite=Lax$/);
    const second = await visit();
    expect([second.status, second.headers["content-type"]]).toEqual([410, "text/html; charset=utf-8"]);
    expect(second.text).toContain("emend user link");
    expect(second.headers["set-cookie"]).toBeUndefined();
  });
});

describe("who may ask", () => {
  const paths = ["/session", "/projects", "/keys", "/jobs", "/jobs/job_x", "/jobs/job_x/diff", "/jobs/job_x/events"];

  it.each(paths)("401 without a session: GET %s", async (path) => {
    const answer = await host.send(path, { cookie: null });
    expect(answer.statusCode).toBe(401);
    expect(answer.headers).toMatchObject({ "emend-error": "unauthorized", "cache-control": "no-store" });
    expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("401 for an admin key: keys are for programs, and this is not their interface", async () => {
    const key = await host.api.addKey(await host.api.addProject());
    const answer = await host.send("/keys", { cookie: null, headers: { authorization: `Bearer ${key}` } });
    expect(answer.statusCode).toBe(401);
  });

  it("401 once the session is ended", async () => {
    const cookie = await host.logIn();
    expect((await host.send("/session", { cookie })).json()).toMatchObject({ subject: "console" });
    expect((await host.send("/session/end", { cookie, body: {} })).statusCode).toBe(200);
    expect((await host.send("/session", { cookie })).statusCode).toBe(401);
  });

  it.each([
    ["without an origin", { origin: undefined }],
    ["from another origin", { origin: "https://evil.example" }],
    ["from nowhere", { origin: "null" }],
    ["from a sister site", { "sec-fetch-site": "same-site" }],
    ["from another site", { "sec-fetch-site": "cross-site" }],
  ])("403 for a write %s, and nothing is done", async (_how, headers) => {
    const answer = await host.send("/keys", { body: newKey({ name: "forged" }), headers });
    expect(answer.statusCode).toBe(403);
    const { keys } = (await host.send("/keys")).json();
    expect(keys.some(({ name }: { name: string }) => name === "forged")).toBe(false);
  });

  it("415 for a form, which any page could post", async () => {
    const answer = await host.send("/keys", {
      body: "name=x",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    expect(answer.statusCode).toBe(415);
  });
});

describe("keys", () => {
  it("201 shows a key once; it works, is listed by its hint, and 401s once revoked", async () => {
    const created = await host.send("/keys", { body: newKey({ allowList: ["127.0.0.1"] }) });
    expect(created.statusCode).toBe(201);
    const { id, key } = created.json();
    const list = await host.send("/keys");
    expect(list.body).not.toContain(key);
    expect(list.headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
    expect(list.json().keys.find((each: { id: string }) => each.id === id)).toMatchObject({
      name: "ci",
      scope: "write",
      createdBy: "console",
      revokedAt: null,
    });
    const use = () => host.api.send(`/v2/agent/${project}/jobs`, { key });
    expect((await use()).status).toBe(200);
    expect((await host.send(`/keys/${id}/revoke`, { body: {} })).statusCode).toBe(200);
    await expect.poll(async () => (await use()).status).toBe(401);
  });

  it.each([
    ["no project", { projectIds: [] }],
    ["no name", { name: "" }],
    ["a scope that is none", { scope: "admin" }],
    ["an expiry of nothing", { expiresInDays: 0 }],
    ["an expiry in words", { expiresInDays: "30" }],
    ["an empty allow-list", { allowList: [] }],
    ["an allow-list of words", { allowList: ["everybody"] }],
  ])("400 for %s", async (_what, change) => {
    expect((await host.send("/keys", { body: newKey(change) })).statusCode).toBe(400);
  });

  it("404 for an unknown project and for an unknown key", async () => {
    expect((await host.send("/keys", { body: newKey({ projectIds: ["prj_nowhere"] }) })).statusCode).toBe(404);
    expect((await host.send("/keys/nothing/revoke", { body: {} })).statusCode).toBe(404);
    expect((await host.send("/keys/%00/revoke", { body: {} })).statusCode).toBe(404);
  });
});

describe("projects", () => {
  it("201 adds one of the local forge", async () => {
    const answer = await host.send("/projects", { body: { name: "Handbook", forge: "local", docsDir: "docs" } });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({ name: "Handbook", models: ["emend/rules"] });
  });

  it("200 edits what is named and leaves the rest", async () => {
    const { id } = await host.api.addProject({ lanes: 2, limits: { stepsMax: 7 } });
    const edit = { name: "Renamed", settings: { createsPerHourMax: 5, limits: { costUsdMax: 1 } } };
    const answer = await host.send(`/projects/${id}`, { method: "PATCH", body: edit });
    expect(answer.json()).toMatchObject({
      name: "Renamed",
      settings: { lanes: 2, createsPerHourMax: 5, limits: { stepsMax: 7, costUsdMax: 1 } },
    });
  });

  it.each([
    ["a setting that cannot be", { settings: { lanes: 0 } }],
    ["a folder outside", { docsDir: "../elsewhere" }],
    ["a branch that git refuses", { baseRef: "-x" }],
    ["an empty name", { name: " " }],
  ])("400 for %s, and nothing changes", async (_what, edit) => {
    const { id } = await host.api.addProject();
    expect((await host.send(`/projects/${id}`, { method: "PATCH", body: edit })).statusCode).toBe(400);
    const { projects } = (await host.send("/projects")).json();
    expect(projects.find((each: { id: string }) => each.id === id)).toMatchObject({ name: "docs", docsDir: "" });
  });

  it("404 for an unknown one", async () => {
    expect((await host.send("/projects/prj_x", { method: "PATCH", body: { name: "x" } })).statusCode).toBe(404);
    expect((await host.send("/projects/%00/jobs", { body: { prompt: "x" } })).statusCode).toBe(404);
  });
});

describe("the app", () => {
  it("503 says how to build it, without a session", async () => {
    const answer = await host.api.send("/app");
    expect(answer.status).toBe(503);
    expect(answer.text).toContain("npm run build:dashboard");
  });

  it("200 on every path below, by a policy that takes no inline script, with immutable files", async () => {
    const dir = await mkdtemp(join(tmpdir(), "emend-assets-"));
    try {
      await writeFile(join(dir, "index.html"), '<script type="module" src="./assets/index-abc.js"></script>');
      await mkdir(join(dir, "assets"));
      await writeFile(join(dir, "assets", "index-abc.js"), "export {};");
      const built = await startDashboard({ assetsDir: pathToFileURL(`${dir}/`) });
      try {
        for (const url of ["/app", "/app/", "/app/jobs/job_x", "/base/app/keys"]) {
          const page = await built.api.send(url);
          expect(page.status).toBe(200);
          expect(page.text).toContain('src="/base/app/assets/index-abc.js"');
          expect(page.headers["content-security-policy"]).toMatch(
            /default-src 'none'; script-src 'self'; style-src 'self';/,
          );
          expect(page.headers["cache-control"]).toBe("no-store");
        }
        const file = await built.api.send("/app/assets/index-abc.js", { headers: { "accept-encoding": "gzip" } });
        expect(file.headers).toMatchObject({
          "content-encoding": "gzip",
          "cache-control": "public, max-age=31536000, immutable",
        });
        expect((await built.api.send("/app/assets/..%2findex.html")).status).toBe(404);
      } finally {
        await built.close();
      }
    } finally {
      await rm(dir, { recursive: true });
    }
  });
});
