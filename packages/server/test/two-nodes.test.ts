import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createByteBudget } from "@emend/base/byte-budget.ts";
import { createLogger } from "@emend/base/logger.ts";
import { type Operation, operations } from "@emend/contract";
import { startApi, type TestApi } from "@emend/testkit/api.ts";
import { dashboardPlugins } from "@emend/testkit/dashboard.ts";
import { openEventSource } from "@emend/testkit/event-source.ts";
import { personGit } from "@emend/testkit/forge.ts";
import { makePng } from "@emend/testkit/pictures.ts";
import { startRoundRobin } from "@emend/testkit/round-robin.ts";
import { alterJob } from "@emend/testkit/seed-jobs.ts";
import { createGit } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import { revokeKey } from "../src/accounts/keys/api-keys.ts";
import { authenticateGitKey } from "../src/accounts/keys/keyring.ts";
import { createLoginLink } from "../src/accounts/people/login-links.ts";
import type { Project } from "../src/accounts/projects/projects.ts";
import { forgeHooksPlugin, hookSecretOf } from "../src/forge/hooks/plugin.ts";
import { createLocalRepository } from "../src/forge/local/create-repository.ts";
import { localForgePlugin } from "../src/forge/local/plugin.ts";
import { mcpPlugin } from "../src/http/mcp-plugin.ts";
import { endRun, setPhase } from "../src/jobs/run/end-run.ts";
import { newId } from "../src/lib/id.ts";

// Two nodes on one database behind a round-robin proxy: each request must find what the previous one wrote on the other node.
let nodes: TestApi[];
let proxy: Awaited<ReturnType<typeof startRoundRobin>>;
let jobs: string;
let authorization: string;
/** The local forge's repositories, which both nodes share. */
let dir: string;
const secret = "a secret of the tests, and of nothing else";
const hooked: string[] = [];
/** The document is requested from a node before the proxy runs. */
const publicUrl = () => proxy?.url ?? "http://127.0.0.1";
/** Everything that a server mounts besides the contract's routes. */
function everything(name: string): NonNullable<Parameters<typeof startApi>[0]>["pluginOf"] {
  return ({ pool, listener, keyring }) => {
    const local = { git: createGit({ allowedProtocols: ["file"] }), forgeDir: dir, pool, publicUrl };
    const plugins = [
      localForgePlugin({
        ...local,
        signal: new AbortController().signal,
        log: createLogger({ level: "silent" }),
        authenticateKey: (bearer) => authenticateGitKey(keyring, bearer),
      }),
      mcpPlugin({ keyring, publicUrl }),
      forgeHooksPlugin({
        secret,
        isProject: async () => true,
        unknownBytes: createByteBudget({ bytesMax: 2 ** 20, bodyMsMax: 60_000 }),
        noticed: async ({ number }) => void hooked.push(`${name} ${number}`),
        askedOnIssue: async () => false,
        pushed: async () => false,
      }),
      dashboardPlugins({ pool, listener }, { publicUrl, forgeDir: dir }),
    ];
    return async (app) => {
      for (const plugin of plugins) app.register(plugin);
    };
  };
}
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-two-nodes-"));
  const shared = { streams: { heartbeatMs: 100 }, publicUrl };
  const first = await startApi({ ...shared, pluginOf: everything("first") });
  nodes = [first, await startApi({ ...shared, databaseUrl: first.database.url, pluginOf: everything("second") })];
  proxy = await startRoundRobin(nodes.map(({ url }) => url));
  const project = await first.addProject();
  jobs = `${proxy.url}/v2/agent/${project.id}/job`;
  authorization = `Bearer ${await first.addKey(project)}`;
});
afterAll(async () => {
  proxy.close();
  for (const node of nodes.toReversed()) await node.close();
  await rm(dir, { recursive: true, force: true });
});

async function send(url: string, init: RequestInit = {}) {
  const headers = { authorization, connection: "close", ...(init.headers as Record<string, string>) };
  const response = await fetch(url, { ...init, headers });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}
const create = (prompt: string, key?: string) =>
  send(jobs, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
    body: JSON.stringify({ prompt }),
  });
const pool = () => (nodes[0] as TestApi).pool;

test("every route answers the same on whichever node it lands", async () => {
  const { json: job } = await create("One.");
  const url = `${jobs}/${job.id}`;
  for (const _turn of nodes) expect(await send(url)).toMatchObject({ status: 200, json: job });
  for (const _turn of nodes) expect((await send(`${jobs}s?limit=1`)).json).toEqual({ jobs: [job], nextCursor: null });
  for (const _turn of nodes) expect((await send(`${url}/run`)).json).toMatchObject({ id: job.id, phase: "queued" });
  const asJson = { headers: { accept: "application/json" } };
  for (const _turn of nodes) expect((await send(`${url}/diff`, asJson)).json).toEqual({ diff: "", files: [] });
  const cancelled = await send(`${url}/cancel`, { method: "POST" });
  expect(cancelled).toMatchObject({ status: 200, json: { status: "failed" } });
  for (const _turn of nodes) expect(await send(`${url}/cancel`, { method: "POST" })).toEqual(cancelled);
  for (const _turn of nodes) expect((await send(`${url}/retry`, { method: "POST" })).status).toBe(409);
  for (const _turn of nodes) expect((await send(`${url}/publish`, { method: "POST" })).status).toBe(409);
  for (const _turn of nodes) expect((await send(`${url}/approve`, { method: "POST" })).status).toBe(409);
  for (const _turn of nodes) expect((await send(`${url}/decline`, { method: "POST" })).status).toBe(409);
  const message = { method: "POST", headers: { "content-type": "application/json" }, body: '{"prompt":"More."}' };
  expect(await send(`${url}/message`, message)).toMatchObject({ status: 200, json: { status: "active" } });
  for (const _turn of nodes) expect((await send(`${url}/message`, message)).status).toBe(200);
  for (const _turn of nodes) expect((await send(url)).json).toMatchObject({ status: "active" });
  expect((await send(`${url}/cancel`, { method: "POST" })).json).toMatchObject({ status: "failed" });
  const archived = await send(`${url}/archive`, { method: "POST" });
  expect(archived).toMatchObject({ status: 200, json: { status: "archived" } });
  for (const _turn of nodes) expect(await send(`${url}/archive`, { method: "POST" })).toEqual(archived);
  expect(Math.abs((proxy.counts[0] ?? 0) - (proxy.counts[1] ?? 0))).toBeLessThanOrEqual(1);
});

test("a file that one node stored is refused for the rules on either", async () => {
  const upload = jobs.replace(/job$/, "upload");
  const png = { method: "POST", headers: { "content-type": "image/png" }, body: new Uint8Array(makePng()) };
  const files: unknown[] = [];
  for (const _turn of nodes) files.push((await send(upload, png)).json.id);
  const body = JSON.stringify({ prompt: "Show it.", files });
  const asked = { method: "POST", headers: { "content-type": "application/json" }, body };
  for (const _turn of nodes) {
    expect(await send(jobs, asked)).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining("emend/rules is none") },
    });
  }
});

test("a claim that one node takes is listed, held back from a second add, and removed by the other", async () => {
  const claims = `${jobs.replace(/job$/, "claims")}`;
  const asJson = { "content-type": "application/json" };
  const add = { method: "POST", headers: asJson, body: '{"page":"docs/a.md:1","source":"src/a.ts:2"}' };
  const { status, json: claim } = await send(claims, add);
  expect(status).toBe(201);
  expect((await send(claims, add)).json).toEqual(claim);
  for (const _turn of nodes) expect((await send(claims)).json).toEqual({ claims: [claim], nextCursor: null });
  for (const _turn of nodes) expect((await send(`${claims}/${claim.id}/confirm`, { method: "POST" })).status).toBe(409);
  expect((await send(`${claims}/${claim.id}`, { method: "DELETE" })).json).toEqual(claim);
  for (const _turn of nodes) expect((await send(`${claims}/${claim.id}`, { method: "DELETE" })).status).toBe(404);
});

test("an automation that one node takes is edited, run and removed by the other", async () => {
  const automations = jobs.replace(/job$/, "automations");
  const asJson = { "content-type": "application/json" };
  const write = (method: string, url: string, body?: object) =>
    send(url, { method, ...(body && { headers: asJson, body: JSON.stringify(body) }) });
  const made = await write("POST", automations, { preset: "links" });
  expect(made).toMatchObject({ status: 201, json: { trigger: { kind: "cron" } } });
  expect((await write("POST", automations, { preset: "links" })).status).toBe(409);
  const one = `${automations}/${made.json.id}`;
  for (const _turn of nodes) expect((await write("PATCH", one, { paused: true })).json).toMatchObject({ paused: true });
  for (const _turn of nodes) expect((await send(automations)).json).toMatchObject({ automations: [{ paused: true }] });
  for (const _turn of nodes) expect((await write("POST", `${one}/run`)).status).toBe(200);
  for (const status of [200, 404, 404]) expect((await write("DELETE", one)).status).toBe(status);
});

test("a gate and the site's health read the same on both nodes, and either has it checked again", async () => {
  const project = jobs.replace(/\/job$/, "");
  const projectId = project.split("/").at(-1);
  const pull = { url: "https://forge.test/3", title: "Rename", head: "topic", base: "main", isFork: false };
  await pool().query(
    `insert into gate_statuses (id, project_id, repository, head, name, number, pull, words)
     values ('gat_two', $1, 'github x', 'c1', 'emend', 3, $2, 'Not checked yet.')`,
    [projectId, pull],
  );
  for (const _turn of nodes) expect((await send(`${project}/gates`)).json.gates).toMatchObject([{ id: "gat_two" }]);
  for (const _turn of nodes) expect((await send(`${project}/gates/gat_two`)).json).toMatchObject({ findings: [] });
  for (const _turn of nodes) {
    expect((await send(`${project}/gates/gat_two/look`, { method: "POST" })).status).toBe(202);
    expect((await send(`${project}/gates/gat_none/look`, { method: "POST" })).status).toBe(404);
    expect((await send(`${project}/health`)).json).toMatchObject({ checkedAt: null, findings: [] });
  }
});

test("a key's replay and a page's cursor hold on the other node", async () => {
  const first = await create("Two.", "a-key");
  const again = await create("Two.", "a-key");
  expect(again.json).toEqual(first.json);
  await create("Three.");
  const page = await send(`${jobs}s?limit=1`);
  const rest = await send(`${jobs}s?cursor=${page.json.nextCursor}`);
  expect(rest.json.jobs).toContainEqual(first.json);
});

test("an event stream is live, and continues on the other node", async () => {
  const { json: job } = await create("Four.");
  const token = "6f1c1f0e-0000-4000-8000-000000000003";
  const lease = { jobId: String(job.id), token };
  await alterJob(pool(), lease.jobId, `lease = '${token}', lease_until = now() + interval '1 minute'`);
  const events = `${jobs}/${job.id}/events`;
  const one = await openEventSource(events, { authorization });
  expect(await one.next()).toMatchObject({ event: "job.created" });
  await setPhase(pool(), lease, "working");
  let event = await one.next();
  while (event === null) event = await one.next();
  expect(event).toMatchObject({ id: "2" });
  one.close();
  await setPhase(pool(), lease, "checking");
  const two = await openEventSource(events, { authorization, "last-event-id": "2" });
  await endRun(pool(), lease, { kind: "completed", summary: "Done." });
  expect((await two.rest()).map(({ id }) => id)).toEqual(["3", "4"]);
});

test("headers alone are the same on both nodes, for every route that is read, and so is the document", async () => {
  const { json: job } = await create("Five.");
  const ofJob = ["", "/run", "/diff", "/events"].map((end) => `${jobs}/${job.id}${end}`);
  for (const url of [
    ...ofJob,
    `${jobs}s`,
    ...["claims", "automations", "gates", "gates/gat_two", "health"].map((end) => jobs.replace(/job$/, end)),
  ]) {
    const seen = [];
    for (const _turn of nodes) {
      const { status, headers } = await fetch(url, { method: "HEAD", headers: { authorization } });
      seen.push({ status, type: headers.get("content-type"), etag: headers.get("etag") });
    }
    expect(seen[0]).toMatchObject({ status: 200 });
    expect(seen[1]).toEqual(seen[0]);
  }
  for (const path of ["/openapi.json", "/healthz", "/readyz"]) {
    const bodies = [];
    for (const _turn of nodes) bodies.push(await (await fetch(proxy.url + path)).text());
    expect(bodies[1]).toBe(bodies[0]);
  }
});

test("a revoked key is refused by both nodes within a second", async () => {
  const project = await (nodes[0] as TestApi).addProject();
  const key = await (nodes[0] as TestApi).addKey(project, { name: "to be revoked" });
  const url = `${proxy.url}/v2/agent/${project.id}/jobs`;
  const ask = async () => (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
  for (const _turn of nodes) expect(await ask()).toBe(200);
  const { rows } = await pool().query("select id from admin_keys where name = 'to be revoked'");
  await revokeKey(pool(), rows[0].id);
  for (const _turn of nodes) await expect.poll(ask).toBe(401);
});

test("a push, a clone, a tool's call, a forge's hook and a browser find on either node what the other one wrote", async () => {
  const id = "prj_local";
  await createLocalRepository(
    { git: createGit({ allowedProtocols: ["file"] }), forgeDir: dir },
    { projectId: id, importFrom: null },
    new AbortController().signal,
  );
  await pool().query("insert into projects (id, name, forge, repository_url) values ($1, 'Docs', 'local', $2)", [
    id,
    `${proxy.url}/git/${id}.git`,
  ]);
  const key = await (nodes[0] as TestApi).addKey({ id } as Project);

  // Each git command is several requests, so it starts on one node and ends on the other.
  const remote = `${proxy.url.replace("//", `//any:${key}@`)}/git/${id}.git`;
  const work = join(dir, "work");
  await mkdir(work);
  await personGit(work, "init", "--quiet", "--initial-branch=main");
  await personGit(work, "commit", "--quiet", "--allow-empty", "--message=first");
  await personGit(work, "push", "--quiet", remote, "main");
  const pushed = await personGit(work, "rev-parse", "HEAD");
  for (const name of ["one", "two"]) {
    await personGit(dir, "clone", "--quiet", remote, name);
    expect(await personGit(join(dir, name), "rev-parse", "HEAD")).toBe(pushed);
  }

  const mcp = (name: string, given: object) =>
    send(`${proxy.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } }),
    });
  expect(await mcp("create_job", { project: id, prompt: "By a tool." })).toMatchObject({ status: 200 });
  const listed = [await mcp("list_jobs", { project: id }), await mcp("list_jobs", { project: id })];
  expect(JSON.stringify(listed[0])).toContain("job_");
  expect(listed[1]).toEqual(listed[0]);

  for (const method of ["GET", "HEAD"]) {
    for (const _turn of nodes) {
      const answer = await fetch(`${proxy.url}/v2/projects`, { method, headers: { authorization: `Bearer ${key}` } });
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(method === "GET" ? id : "");
    }
  }

  for (const number of [1, 2]) {
    const body = JSON.stringify({ pull_request: { number } });
    const signature = createHmac("sha256", hookSecretOf(secret, id)).update(body).digest("hex");
    const headers = { "x-hub-signature-256": `sha256=${signature}`, "content-type": "application/json" };
    const told = await send(`${proxy.url}/hooks/github/${id}`, { method: "POST", headers, body });
    expect(told).toEqual({ status: 202, json: { status: "noticed" } });
  }
  expect(hooked.map((told) => told.split(" ")[0]).toSorted()).toEqual(["first", "second"]);

  const link = await createLoginLink({ db: pool(), publicUrl: proxy.url }, { landsOn: "/app" });
  const claimed = await fetch(link, { redirect: "manual" });
  expect(claimed.status).toBe(303);
  const cookie = claimed.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  for (const _turn of nodes) expect((await fetch(link, { redirect: "manual" })).status).toBe(410);
  const browse = (path: string) => fetch(`${proxy.url}${path}`, { headers: { cookie } });
  for (const path of [
    "/dashboard/api/session",
    "/dashboard/api/projects",
    `/dashboard/api/pulls?project=${id}`,
    `/dashboard/api/projects/${id}/gates`,
  ]) {
    const seen = [];
    for (const _turn of nodes) {
      const answer = await browse(path);
      seen.push({ status: answer.status, text: await answer.text() });
    }
    expect(seen[0]).toMatchObject({ status: 200 });
    expect(seen[1]).toEqual(seen[0]);
  }
  const gate = newId("gat");
  const finding = {
    check: "broken-link",
    severity: "error",
    path: "a.md",
    line: 1,
    message: "links to a missing page",
    isFixable: true,
  };
  await pool().query(
    `insert into gate_statuses (id, project_id, repository, head, name, number, pull, words, findings)
     values ($1, $2, 'x', 'y', 'emend', 1, $3, 'w', $4)`,
    [gate, id, { url: "", title: "", head: "topic", base: "main", isFork: false }, JSON.stringify([finding])],
  );
  const made: unknown[] = [];
  for (const _turn of nodes) {
    const headers = { cookie, origin: proxy.url, "content-type": "application/json" };
    made.push(
      await (
        await fetch(`${proxy.url}/dashboard/api/gates/${gate}/job`, { method: "POST", headers, body: "{}" })
      ).json(),
    );
  }
  expect(made).toEqual(Array(2).fill({ jobId: expect.stringMatching(/^job_/) }));
  expect(made[1]).toEqual(made[0]);
  await fetch(`${proxy.url}/dashboard/api/session/end`, { method: "POST", headers: { cookie, origin: proxy.url } });
  for (const _turn of nodes) expect((await browse("/dashboard/api/session")).status).toBe(401);
});

test("what one node adds by an operation of the table, the other lists, tests and removes", async () => {
  const project = await (nodes[0] as TestApi).addProject();
  const bearer = `Bearer ${await (nodes[0] as TestApi).addKey(project, { scope: "manage" })}`;
  const ids: Record<string, string> = { projectId: project.id, id: "whk_none" };
  const call = ({ method, path }: Operation, as: string = method) =>
    fetch(`${proxy.url}/v2${path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "")}`, {
      method: as,
      headers: { authorization: bearer, connection: "close", "content-type": "application/json" },
      ...(method === "POST" && { body: JSON.stringify({ url: "https://hooks.example.com/in" }) }),
    });
  const add = async () => ((await (await call(operations["webhooks.add"])).json()) as { id: string }).id;
  for (const _turn of nodes) ids.id = await add();
  for (const [name, row] of Object.entries(operations)) {
    const seen: number[] = [];
    for (const as of row.method === "GET" ? ["GET", "GET", "HEAD", "HEAD"] : [row.method, row.method])
      seen.push((await call(row, as)).status);
    const isKnown = !name.startsWith("deliveries.redeliver");
    expect(seen[0], name).toBe(isKnown ? 200 : 404);
    expect(seen.at(-1), name).toBe(isKnown && name !== "webhooks.remove" ? 200 : 404);
    if (name === "webhooks.remove") ids.id = await add();
    if (name === "webhooks.disable") await call(operations["webhooks.enable"]);
  }
});

test("no operation of the document was left out, on either node", () => {
  const documented = Object.entries((nodes[0] as TestApi).document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  const servers = documented.map(({ method, path }) => {
    const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const passed = proxy.passed.filter((one) => one.method === method && form.test(one.path));
    return { operation: `${method} ${path}`, servers: [...new Set(passed.map(({ server }) => server))].toSorted() };
  });
  expect(servers).toEqual(documented.map(({ method, path }) => ({ operation: `${method} ${path}`, servers: [0, 1] })));
});
