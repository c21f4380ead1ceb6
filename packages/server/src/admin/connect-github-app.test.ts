import { generateKeyPairSync } from "node:crypto";
import { get } from "node:http";
import { createFetch } from "@emend/base/network.ts";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import githubDescription from "@emend/testkit/forges/fixtures/github-api.json" with { type: "json" };
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openProjectCredential } from "../accounts/projects/projects.ts";
import { createSealer } from "../accounts/secrets.ts";
import { loadConfig } from "../config/config.ts";
import { hookSecretOf } from "../forge/hooks/plugin.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import { createAdmin } from "./admin.ts";
import { type AppStep, connectGithubApp, hookUrlOf } from "./connect-github-app.ts";
import { createProjectAdmin } from "./create-project-admin.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const secret = "a secret of this installation, long enough";
const sealer = createSealer(secret);
const network = createFetch({});
let database: TestDatabase;
let far: FarEnd;
beforeAll(async () => {
  database = await createTestDatabase();
  far = await startFarEnd(githubVendor);
  Object.assign(far.state.app, { privateKey: pem, installed: false });
});
afterAll(async () => {
  await far.close();
  await network.close();
  await database.drop();
  expect(far.violations).toEqual([]);
});

async function connect(told: (step: AppStep) => Promise<void> | void, publicUrl: string, signal?: AbortSignal) {
  const steps: AppStep[] = [];
  const acts: Promise<void>[] = [];
  const { pool } = database;
  const project = await connectGithubApp(
    {
      config: loadConfig({ EMEND_LOG_LEVEL: "silent" }),
      db: pool,
      sealer,
      secret,
      publicUrl,
      isConsole: true,
      fetch: network.fetch,
      told(step) {
        steps.push(step);
        acts.push(Promise.resolve(told(step)));
      },
    },
    { name: "Docs", repo: far.repositoryUrl, settings: { forge: { verifiedCommits: true } } },
    signal ?? new AbortController().signal,
  );
  await Promise.all(acts);
  return { project, steps };
}

/** Like a browser: opens the page, posts its form to GitHub, and follows the redirect back. */
async function createAt(url: string) {
  const html = await (await fetch(url)).text();
  const actions = [...html.matchAll(/formaction="([^"]+)"/g)].map(([, action = ""]) => action);
  const [action = ""] = actions;
  const [, value = ""] = /name="manifest" value="([^"]+)"/.exec(html) ?? [];
  const manifest = JSON.parse(value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"));
  far.state.app.code = "once";
  const back = `${manifest.redirect_url}?code=once&state=${new URL(action).searchParams.get("state")}`;
  return { action, actions, manifest, back };
}
function statusAs(host: string, url: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode));
  return promise;
}
const projects = async () => (await database.pool.query("select id from projects")).rows.length;

describe("a project with an App of its own", () => {
  it("is added once GitHub made the App and somebody installed it", async () => {
    const seen: Awaited<ReturnType<typeof createAt>>[] = [];
    const { project, steps } = await connect(async (step) => {
      if (step.kind === "install") {
        expect(await projects()).toBe(0);
        far.state.app.installed = true;
        return;
      }
      const made = await createAt(step.url);
      seen.push(made);
      const wrong = made.back.replace(/state=.*/, "state=guessed");
      expect((await fetch(wrong)).status).toBe(404);
      expect(await statusAs("evil.test", made.back)).toBe(404);
      expect(await (await fetch(made.back)).text()).toContain(`${far.url}/apps/emend/installations/new`);
    }, "https://emend.acme.test");

    expect(steps.map(({ kind }) => kind)).toEqual(["create", "install"]);
    expect(seen[0]?.action).toMatch(`${far.url}/organizations/acme/settings/apps/new?state=`);
    expect(seen[0]?.manifest).toMatchObject({
      public: false,
      default_permissions: {
        contents: "write",
        pull_requests: "write",
        metadata: "read",
        statuses: "write",
        issues: "write",
        checks: "read",
        actions: "read",
      },
      hook_attributes: { url: `https://emend.acme.test/hooks/github/${project.id}`, active: true },
    });
    // GitHub refuses a manifest with an event whose permission is missing.
    const { events } = githubDescription as { events: Record<string, { words: string }> };
    const subscribed = seen[0]?.manifest.default_events ?? [];
    expect(subscribed.length).toBeGreaterThan(0);
    for (const event of subscribed) {
      const [, right = ""] =
        /read-level access for the "(.+)" repository permission/.exec(events[event]?.words ?? "") ?? [];
      expect(Object.keys(seen[0]?.manifest.default_permissions ?? {})).toContain(right.toLowerCase().replace(" ", "_"));
    }
    expect(far.state.app.hook).toMatchObject({ secret: hookSecretOf(secret, project.id), content_type: "json" });
    const stored = await openProjectCredential({ db: database.pool, sealer }, project.id);
    expect(JSON.parse(stored ?? "")).toEqual({ appId: "5", privateKey: pem });
    const { rows } = await database.pool.query("select credential from projects where id = $1", [project.id]);
    expect(String(rows[0]?.credential)).not.toContain("PRIVATE KEY");
  });

  it("lets a person choose the App's owner where GitHub does not say who owns the repository", async () => {
    await database.pool.query("delete from projects");
    Object.assign(far.state.app, { installed: false, code: null });
    far.fault("GET /users/{username}", { kind: "answer", status: 401, words: "Requires authentication" });
    const seen: string[] = [];
    await connect(async (step) => {
      if (step.kind === "install") return void Object.assign(far.state.app, { installed: true });
      const made = await createAt(step.url);
      seen.push(...made.actions.map((action) => new URL(action).pathname));
      await fetch(made.back);
    }, "https://emend.acme.test");
    expect(seen).toEqual(["/organizations/acme/settings/apps/new", "/settings/apps/new"]);
  });

  it("continues with the App of an earlier, failed attempt", async () => {
    await database.pool.query("delete from projects");
    Object.assign(far.state.app, { installed: false, code: null });
    const givesUp = new AbortController();
    const first = connect(
      async (step) => {
        if (step.kind === "create") await fetch((await createAt(step.url)).back);
        else givesUp.abort();
      },
      "https://emend.acme.test",
      givesUp.signal,
    );
    await expect(first).rejects.toMatchObject({ publicMessage: expect.stringContaining("run the same command again") });
    const { rows } = await database.pool.query("select project_id, credential from github_apps");
    expect(rows).toHaveLength(1);
    expect(String(rows[0]?.credential)).not.toContain("PRIVATE KEY");

    // Installed with too few permissions: GitHub's token response shows that, and no project is added.
    Object.assign(far.state.app, { installed: true, tokenSays: { contents: "read", metadata: "read" } });
    await expect(connect(() => {}, "https://emend.acme.test")).rejects.toMatchObject({
      code: "invalid_request",
      publicMessage: expect.stringContaining("Contents: read and write"),
    });
    expect(await projects()).toBe(0);

    far.state.app.tokenSays = null;
    const { project, steps } = await connect(() => {}, "https://emend.acme.test");
    expect(steps.map(({ kind }) => kind)).toEqual(["install"]);
    expect(project.id).toBe(rows[0]?.project_id);
    expect((await database.pool.query("select from github_apps")).rowCount).toBe(0);
  });

  it("makes another App where somebody deleted the one that was kept", async () => {
    Object.assign(far.state.app, { installed: false });
    const givesUp = new AbortController();
    const making = async (step: AppStep) => {
      if (step.kind === "create") await fetch((await createAt(step.url)).back);
    };
    const first = connect(
      async (step) => (step.kind === "install" ? givesUp.abort() : making(step)),
      "http://127.0.0.1:4000",
      givesUp.signal,
    );
    await expect(first).rejects.toMatchObject({ code: "forge_rejected" });
    Object.assign(far.state.app, { installed: true, isDeleted: true });
    const { steps } = await connect(making, "http://127.0.0.1:4000");
    far.state.app.isDeleted = false;
    expect(steps.map(({ kind }) => kind)).toEqual(["create", "install"]);
  });

  it("asks for no webhook where GitHub could not reach it, and ends where the code is refused", async () => {
    const before = await projects();
    const refused = connect(async (step) => {
      const { manifest, back } = await createAt(step.url);
      expect(manifest.hook_attributes).toBeUndefined();
      await fetch(back.replace("code=once", "code=other"));
    }, "http://127.0.0.1:4000");
    await expect(refused).rejects.toMatchObject({ code: "forge_rejected" });
    expect(await projects()).toBe(before);
  });

  it("ends with a clear error if nobody opens the page", async () => {
    const waiting = new AbortController();
    const given = connect(() => waiting.abort(), "http://127.0.0.1:4000", waiting.signal);
    await expect(given).rejects.toMatchObject({ publicMessage: expect.stringContaining("run the command again") });
  });
});

describe("an App that is created in the dashboard", () => {
  const config = loadConfig({ EMEND_LOG_LEVEL: "silent", EMEND_ALLOW_PRIVATE_FORGES: "true" });
  const reach = createForgeReach(config);
  const publicUrl = "https://emend.test/base";
  let host: DashboardApi;
  beforeAll(async () => {
    host = await startDashboard({
      projectAdminFor(pool) {
        const admin = createAdmin({ config, pool, secret, publicUrl: async () => publicUrl, close: async () => {} });
        const shared = { admin, pool, sealer, secret, publicUrl: () => publicUrl, reach, fetch: network.fetch };
        return createProjectAdmin({ ...shared, config, local: {} as never });
      },
    });
  });
  afterAll(async () => {
    await host.close();
    await reach.close();
  });

  const post = (path: string, body: object, cookie?: string) => host.send(path, { body, ...(cookie && { cookie }) });
  async function begin(): Promise<{ id: string; state: string; form: { action: string; manifest: string } }> {
    const begun = await post("/github-apps", { host: far.url, organization: "acme" });
    expect(begun.statusCode).toBe(201);
    const { id } = begun.json();
    const form = (await post(`/github-apps/${id}/manifest`, {})).json();
    return { id, form, state: new URL(form.action).searchParams.get("state") ?? "" };
  }
  const policyOf = async (id: string, cookie: string) =>
    (await host.api.send(`/app/github-app?app=${id}`, { headers: { cookie } })).headers["content-security-policy"];

  it("is posted to GitHub by a page that may post nowhere else, for the session that began", async () => {
    const cookie = await host.logIn();
    const { id } = (await post("/github-apps", { host: far.url }, cookie)).json();
    expect(await policyOf(id, cookie)).toContain(`form-action 'self' ${far.url};`);
    const other = await host.logIn();
    for (const [name, whose] of [
      [id, other],
      ["prj_none", cookie],
      [id, ""],
    ] as const) {
      expect(await policyOf(name, whose)).toContain("form-action 'self';");
    }
    expect((await post(`/github-apps/${id}/manifest`, {}, other)).statusCode).toBe(400);
    const form = (await post(`/github-apps/${id}/manifest`, {}, cookie)).json();
    expect(form.action).toMatch(`${far.url}/settings/apps/new?state=`);
    // GitHub refuses hook_attributes without a URL, and the events that need it.
    expect(JSON.parse(form.manifest)).toMatchObject({
      public: false,
      redirect_url: `${publicUrl}/app/github-app`,
      setup_url: `${publicUrl}/app/projects/new?from=${id}`,
      default_permissions: form.permissions,
      hook_attributes: { url: `${publicUrl}/hooks/github/${id}`, active: true },
    });
  });

  it("gives its key once, to the session that began, within the hour", async () => {
    const { state } = await begin();
    far.state.app.code = "once";
    const [other, owner] = [await host.logIn(), (await host.addMember("owner")).cookie];
    for (const cookie of [other, owner]) {
      expect((await post("/github-apps/created", { state, code: "once" }, cookie)).statusCode).toBe(400);
    }
    expect((await post("/github-apps/created", { state: "x".repeat(43), code: "once" })).statusCode).toBe(400);
    const crossSite = { state, code: "once" };
    const forged = await host.send("/github-apps/created", {
      body: crossSite,
      headers: { origin: "https://evil.test" },
    });
    expect(forged.statusCode).toBe(403);
    const maintainer = (await host.addMember("maintainer")).cookie;
    expect((await post("/github-apps/created", { state, code: "once" }, maintainer)).statusCode).toBe(403);

    await host.api.pool.query("update github_app_setups set expires_at = clock_timestamp()");
    expect((await post("/github-apps/created", { state, code: "once" })).statusCode).toBe(400);
    await host.api.pool.query("update github_app_setups set expires_at = clock_timestamp() + interval '1 hour'");
    // None of these used the code up.
    const asked = far.requests.filter(({ operation }) => operation.startsWith("POST /app-manifests")).length;
    expect((await post("/github-apps/created", { state, code: "once" })).statusCode).toBe(200);
    expect((await post("/github-apps/created", { state, code: "once" })).statusCode).toBe(400);
    const now = far.requests.filter(({ operation }) => operation.startsWith("POST /app-manifests")).length;
    expect(now - asked).toBe(1);
    const { rows } = await host.api.pool.query("select credential from github_app_setups where credential is not null");
    expect(String(rows[0]?.credential)).not.toContain("PRIVATE KEY");
    expect((await host.send("/github-apps")).body).not.toContain("PRIVATE KEY");
  });

  it("lists what it is installed on, and becomes a project's with its webhook", async () => {
    const { id, state } = await begin();
    Object.assign(far.state.app, { code: "again", installed: false, hook: null });
    expect((await post("/github-apps/created", { state, code: "again" })).json()).toEqual({ id });
    const list = async (cursor?: string) =>
      (await post("/repositories", { from: id, ...(cursor && { cursor }) })).json();
    expect(await list()).toEqual({
      repositories: [],
      next: null,
      install: { name: "Emend for docs", url: `${far.url}/apps/emend/installations/new` },
    });
    far.state.app.installed = true;
    far.state.otherRepositories = Array.from({ length: 120 }, (_, at) => `acme/site-${at}`).concat("acme/site-old");
    const first = await list();
    expect([first.repositories.length, first.next, first.install]).toEqual([100, "0.2", null]);
    expect(first.repositories[0]).toEqual({ path: "acme/docs", url: far.repositoryUrl, defaultBranch: "main" });
    const second = await list(first.next);
    expect([second.repositories.length, second.next]).toEqual([21, null]);

    const add = (repo: string, from = id) => post("/projects", { name: "Docs", forge: "github", repo, from });
    // The key is not sent to another server.
    const elsewhere = await add("http://127.0.0.1:2/acme/docs");
    expect([elsewhere.statusCode, elsewhere.json().error]).toEqual([400, expect.stringContaining(far.url)]);
    const added = await add(far.repositoryUrl);
    expect([added.statusCode, added.json().id, added.json().notice]).toEqual([201, id, undefined]);
    expect(far.state.app.hook).toMatchObject({
      url: `${publicUrl}/hooks/github/${id}`,
      secret: hookSecretOf(secret, id),
    });
    expect((await host.send("/github-apps")).json().apps.map((app: { id: string }) => app.id)).not.toContain(id);

    // A second project uses the access of the first.
    const again = await add(far.repositoryUrl, id);
    expect(again.statusCode).toBe(201);
    const stored = await openProjectCredential({ db: host.api.pool, sealer }, again.json().id);
    expect(JSON.parse(stored ?? "")).toEqual({ appId: "5", privateKey: pem });
    expect((await add(far.repositoryUrl, "prj_none")).statusCode).toBe(404);
  });

  it("can be discarded, and GitHub's refusals are shown", async () => {
    const { apps } = (await host.send("/github-apps")).json();
    for (const app of apps) expect((await post(`/github-apps/${app.id}/remove`, {})).statusCode).toBe(200);
    expect((await host.send("/github-apps")).json()).toEqual({ apps: [] });
    expect((await post("/github-apps/prj_none/remove", {})).statusCode).toBe(404);
    const { state } = await begin();
    const refused = await post("/github-apps/created", { state, code: "none" });
    expect([refused.statusCode, refused.json().error]).toEqual([400, expect.stringContaining("GitHub answered 404")]);
  });

  it.each([
    ["https://emend.acme.test", "https://github.com", true],
    ["https://127.0.0.1", "https://github.com", false],
    ["https://localhost:4000", "https://git.acme.test", false],
    ["https://10.0.0.4", "https://github.com", false],
    ["https://10.0.0.4", "https://git.acme.test", true],
    ["https://emend.internal", "https://acme.ghe.com", false],
    ["http://emend.acme.test", "https://github.com", false],
  ])("%s gets a webhook from %s: %s", (own, github, isReached) => {
    expect(hookUrlOf(own, github, "prj_1") !== null).toBe(isReached);
  });
});
