import { generateKeyPairSync } from "node:crypto";
import { get } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { type FarEnd, startFarEnd } from "../../test/support/forges/far-end.ts";
import githubDescription from "../../test/support/forges/fixtures/github-api.json" with { type: "json" };
import { githubVendor } from "../../test/support/forges/github.ts";
import { openProjectCredential } from "../accounts/projects/project-credential.ts";
import { createSealer } from "../accounts/secrets.ts";
import { loadConfig } from "../config/config.ts";
import { hookSecretOf } from "../forge/hooks/hook-secret.ts";
import { createFetch } from "../lib/network.ts";
import { type AppStep, connectGithubApp } from "./connect-github-app.ts";

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

/** As a browser would: opens the page, posts its form to GitHub, and follows GitHub back. */
async function createAt(url: string) {
  const html = await (await fetch(url)).text();
  const [, action = ""] = /action="([^"]+)"/.exec(html) ?? [];
  const [, value = ""] = /name="manifest" value="([^"]+)"/.exec(html) ?? [];
  const manifest = JSON.parse(value.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&"));
  far.state.app.code = "once";
  const back = `${manifest.redirect_url}?code=once&state=${new URL(action).searchParams.get("state")}`;
  return { action, manifest, back };
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
      },
      hook_attributes: { url: `https://emend.acme.test/hooks/github/${project.id}`, active: true },
    });
    // GitHub refuses a manifest that subscribes to an event without the right that the event needs.
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

  it("goes on with the App that an earlier try made, whatever that try failed at", async () => {
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

    // Installed, but with fewer rights than it needs: GitHub's answer to the token says so, and nothing is added.
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

  it("gives up in words when nobody comes", async () => {
    const waiting = new AbortController();
    const given = connect(() => waiting.abort(), "http://127.0.0.1:4000", waiting.signal);
    await expect(given).rejects.toMatchObject({ publicMessage: expect.stringContaining("run the command again") });
  });
});
