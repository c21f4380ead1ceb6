import { hostname } from "node:os";
import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { everyVendor } from "@emend/testkit/forges/vendors.ts";
import { createGit, type Git } from "@emend/tree";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import type { LocalForgeDeps } from "../forge/local/repository.ts";
import type { ForgeDeps } from "../forge/open-forge.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import { startHeartbeat } from "../installation/nodes.ts";
import { askDiagnosis } from "../tasks/start-tasks.ts";
import { startTaskQueue } from "../tasks/task-queue.ts";
import { answerDiagnosis, askWorker } from "./ask-worker.ts";
import { checkProject, diagnoseProject, type ProjectCheck } from "./doctor-project.ts";

const { signal } = new AbortController();
let isTrusted = true;
const reach = createForgeReach({ network: {}, allowPrivateForges: false }, { isTrusted: async () => isTrusted });
const git = createGit({ allowedProtocols: ["http"] });
const publicUrl = "https://emend.acme.test";
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await reach.close();
  await database.drop();
});

it("the doctor tells what each model of the project says", async () => {
  const far = await startFarEnd(everyVendor[0] as (typeof everyVendor)[number]);
  const { name } = everyVendor[0] as (typeof everyVendor)[number];
  await database.pool.query("insert into projects (id, name, forge, repository_url) values ('prj_m', 'd', $1, $2)", [
    name,
    far.repositoryUrl,
  ]);
  const forges = {
    local: {} as LocalForgeDeps,
    reach,
    githubTokens: new Map(),
    credentialOf: async () => far.token,
  };
  const trials = [
    { kind: "answers", model: "compatible/a", ms: 7, window: "window 128,000 tokens" },
    { kind: "unavailable", model: "openai/b", words: "OpenAI says: no such key" },
  ] as const;
  const look = { db: database.pool, forges, git, secret: "s", publicUrl, tryModels: async () => trials };
  const { checks } = await diagnoseProject(look, "prj_m", signal);
  expect(checks.slice(-2)).toEqual([
    {
      name: "model compatible/a",
      verdict: "ok",
      words: "answers, in 7 ms; window 128,000 tokens",
    },
    { name: "model openai/b", verdict: "problem", words: "OpenAI says: no such key" },
  ]);
  await far.close();
});

it("the doctor takes a running worker's word, and looks itself where none runs", async () => {
  const { pool } = database;
  await pool.query("insert into projects (id, name, forge, repository_url) values ('prj_w', 'd', 'local', 'x')");
  const request = (id: string) => askDiagnosis(pool, { projectId: "prj_w", id });
  const ask = () => askWorker<{ checks: readonly ProjectCheck[] }>(pool, request, { waitMsMax: 10_000 });
  const log = createLogger({ level: "silent" });
  expect(await ask()).toBeNull();
  const api = await startHeartbeat({ pool, log }, "api");
  expect(await ask()).toBeNull();
  const worker = await startHeartbeat({ pool, log }, "worker");
  const checks = [{ name: "token", verdict: "problem", words: "revoked" }] as const;
  const answering = startTaskQueue(
    { pool, log, listener: { on: () => () => {}, onReset: () => () => {} } },
    { diagnose_project: { work: (subject) => answerDiagnosis(pool, subject.split("/")[1] ?? "", { checks }) } },
    { pollEveryMs: 20 },
  );
  // Nothing else can make the checks here.
  const nothing = {} as Parameters<typeof diagnoseProject>[0];
  const look = { ...nothing, db: pool, secret: "s", publicUrl, askWorker: ask };
  expect(await diagnoseProject(look, "prj_w", signal)).toMatchObject({ checkedBy: hostname(), checks, webhook: null });
  expect((await pool.query("select from diagnoses")).rowCount).toBe(0);
  await Promise.all([answering.stop(), worker.stop(), api.stop()]);
});

it("the doctor calls a hosted repository that cannot be read a problem", async () => {
  const { pool } = database;
  await pool.query("insert into projects (id, name, forge, repository_url) values ('prj_l', 'd', 'local', 'x')");
  const words = "The repository could not be read. (git: Permission denied)";
  const fail = () => Promise.reject(new AppError("forge_unavailable", { publicMessage: words, retryable: true }));
  const git = new Proxy({} as Git, { get: () => fail });
  const local = { git, pool, forgeDir: "/nowhere", publicUrl: () => publicUrl } as LocalForgeDeps;
  const forges = { local } as ForgeDeps;
  const checks = await checkProject({ db: pool, forges, git, secret: "s", publicUrl }, "prj_l", signal);
  expect(checks).toContainEqual({ name: "git", verdict: "problem", words });
});

describe.each(everyVendor)("the doctor on $label", (vendor) => {
  const projectId = `prj_${vendor.label.replaceAll(" ", "")}`;
  let far: FarEnd;
  beforeAll(async () => {
    far = await startFarEnd(vendor);
    await database.pool.query("insert into projects (id, name, forge, repository_url) values ($1, 'd', $2, $3)", [
      projectId,
      vendor.name,
      far.repositoryUrl,
    ]);
  });
  afterAll(async () => {
    await far.close();
    expect(far.violations).toEqual([]);
  });
  beforeEach(() => {
    far.tokens.add(far.token);
    Object.assign(far.state, {
      archived: false,
      closedBranches: null,
      hooks: [],
      tokenEndsOn: null,
      path: vendor.path,
    });
  });

  async function diagnose() {
    const forges = {
      local: {} as LocalForgeDeps,
      reach,
      githubTokens: new Map(),
      credentialOf: async () => far.token,
    };
    const deps = { db: database.pool, forges, git, secret: "s".repeat(40), publicUrl };
    const { checks } = await diagnoseProject(deps, projectId, signal);
    return Object.fromEntries(checks.map(({ name, verdict, words }) => [name, `${verdict}: ${words}`]));
  }
  const hookUrl = `${publicUrl}/hooks/${vendor.name}/${projectId}`;

  it("finds nothing in the way, and says as whom it looked", async () => {
    const found = await diagnose();
    expect(Object.keys(found)).toEqual([
      "token",
      "permissions",
      "git",
      "branch rules",
      "pull requests",
      "comments",
      "webhook",
    ]);
    expect(Object.values(found).filter((words) => !words.startsWith("ok:"))).toEqual([]);
    expect(found.token).toContain(`reads ${vendor.path} as emend-bot`);
    expect(found.webhook).toContain("none is set up");
  });

  it("asks nothing at an inner address, by API or git, where somebody in the browser named it", async () => {
    isTrusted = false;
    const before = far.requests.length;
    const found = await diagnose();
    isTrusted = true;
    const refused = expect.stringMatching(/^problem: .*EMEND_ALLOW_PRIVATE_FORGES/);
    expect(found).toMatchObject({ token: refused, git: refused, "pull requests": refused });
    expect(far.requests.length).toBe(before);
  });

  it("says which branches may not be pushed to", async () => {
    far.state.closedBranches = "emend/*";
    expect((await diagnose())["branch rules"]).toMatch(/^problem: a push to emend\/doctor would be refused: ./);
  });

  it("knows its webhook, one that is off, and that it may not look", async () => {
    far.state.hooks = [{ url: hookUrl, isActive: true, lastStatus: 202 }];
    expect((await diagnose()).webhook).toBe("ok: is set up and active");
    far.state.hooks = [{ url: hookUrl, isActive: false, lastStatus: 202 }];
    expect((await diagnose()).webhook).toMatch(/^problem: it is there, but not active/);
    far.state.hooks = null;
    expect((await diagnose()).webhook).toMatch(/^unknown: the token may not read the webhooks/);
  });

  it("says of an archived repository that nothing can be pushed to it, on forges that archive", async () => {
    if (vendor.name === "bitbucket") return;
    far.state.archived = true;
    expect((await diagnose()).token).toBe(`problem: ${vendor.path} is archived: nothing can be pushed to it`);
  });

  it("names the automations that can hear of no push any more", async () => {
    const trigger = { kind: "push", repository: "api", branches: [], tags: [], include: [], exclude: [] };
    await database.pool.query(
      "insert into automations (project_id, name, trigger, prompt, created_by) values ($1, 'release', $2, 'Go.', 'test')",
      [projectId, trigger],
    );
    expect((await diagnose()).automations).toMatch(/^problem: release: Its context repository api was taken away/);
    await database.pool.query("delete from automations");
  });

  it("says of a token that is refused what to do", async () => {
    far.tokens.clear();
    const found = await diagnose();
    expect(found.token).toMatch(/^problem: .*(?:401|203).*token is missing, expired or revoked/);
    expect(found.git).toMatch(/^problem: .*credential is missing or expired/);
  });
});

it.each(everyVendor.filter(({ name }) => name === "github" || name === "gitlab"))(
  "tells when a token of $label ends",
  async (vendor) => {
    const far = await startFarEnd(vendor);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    far.state.tokenEndsOn = inDays(40);
    const inspected = await far.open().inspect?.("emend/doctor", signal);
    expect(inspected?.expiresAt?.toISOString().slice(0, 10)).toBe(inDays(40));
    await far.close();
  },
);

it.each([
  ["1.25.2", "Gitea 1.25.2", 0],
  ["10.0.1+gitea-1.22.0", "Forgejo 10.0.1", 0],
  ["1.18.0", "Gitea 1.18.0", 1],
  ["development", "Gitea development", 0],
  ["1.27.0+dev-412-gabcdef", "Gitea 1.27.0+dev-412-gabcdef", 0],
])("knows the server behind version %s", async (version, server, lacks) => {
  const vendor = everyVendor.find(({ name }) => name === "gitea");
  if (!vendor) throw new Error("no Gitea");
  const far = await startFarEnd({ ...vendor, version });
  expect(await far.open().inspect?.("emend/doctor", signal)).toMatchObject({ server });
  expect((await far.open().inspect?.("emend/doctor", signal))?.lacks).toHaveLength(lacks);
  await far.close();
});
