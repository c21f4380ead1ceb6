// Costly: only a killed process loses what was in memory alone.
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type FarModel, protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { freePort } from "@emend/testkit/listen.ts";
import { makePng } from "@emend/testkit/pictures.ts";
import { createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dropUploads } from "../src/tasks/housekeeping.ts";

let installation: Installation;
let model: FarModel;
let url: string;
let projectId: string;
let key: string;
let node: ChildProcess;

beforeAll(async () => {
  const port = await freePort();
  model = await startFarModel(() => [["finish", { title: "T", summary: "S", reply: "R" }]]);
  installation = await createInstallation({
    ...model.environment,
    EMEND_MODEL: protocols[0],
    EMEND_PORT: String(port),
    EMEND_PUBLIC_URL: `http://127.0.0.1:${port}`,
  });
  const { admin } = await installation.start({ role: "api" });
  const repo = await installation.makeDocs({ "index.md": "# Docs\n" });
  ({ id: projectId } = await admin.addProject({ name: "Docs", forge: "local", repo, settings: {} }));
  ({ key } = await admin.createKey({ projectIds: [projectId], name: "person", scope: "write" }));
  url = `http://127.0.0.1:${port}`;
  await startNode();
});
afterAll(async () => {
  await kill();
  await installation.remove();
  await model.stop();
});

async function startNode(): Promise<void> {
  node = installation.spawn(undefined, "api");
  while (!(await fetch(`${url}/healthz`).catch(() => null))?.ok) {
    if (node.exitCode !== null) throw new Error("the node ended");
    await pause(50);
  }
}

async function kill(): Promise<void> {
  const gone = once(node, "exit");
  node.kill("SIGKILL");
  await gone;
}

const pool = () => installation.database.pool;
const count = async (sql: string) => (await pool().query(sql)).rowCount ?? 0;

/** The node is killed while it writes an upload: Postgres holds it there. Then another one starts. */
async function killAt(write: "insert" | "update", request: () => Promise<unknown>): Promise<void> {
  const holder = await pool().connect();
  try {
    await pool().query(`create or replace function hold() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(7); return null; end'`);
    await pool().query(`create trigger hold after ${write} on uploads for each row execute function hold()`);
    await holder.query("select pg_advisory_lock(7)");
    const answer = request().catch(() => "lost");
    while ((await count("select from pg_locks where locktype = 'advisory' and objid = 7 and not granted")) === 0) {
      await pause(20);
    }
    await kill();
    expect(await answer).toBe("lost");
    await holder.query("select pg_advisory_unlock(7)");
    // The connection of the dead node is gone only after its statement.
    while ((await count("select from pg_locks where locktype = 'advisory' and objid = 7")) > 0) await pause(20);
  } finally {
    await pool().query("drop trigger hold on uploads");
    holder.release();
  }
  await startNode();
}

async function send(
  path: string,
  body: Uint8Array<ArrayBuffer> | object,
  headers: Record<string, string> = {},
): Promise<{ id: string }> {
  const response = await fetch(`${url}/v2/agent/${projectId}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    body: body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as { id: string };
}
const upload = () => send("/upload?name=form.png", new Uint8Array(makePng()), { "content-type": "image/png" });
const jobs = () => count("select from jobs");
const waiting = () => count("select from uploads where job_id is null");
const attached = () => count("select from uploads where job_id is not null");

test("a node killed while it stores or attaches a picture loses and doubles nothing", async () => {
  // Stored or not, its sender has no id, and sends it again.
  await killAt("insert", upload);
  const { id: first } = await upload();
  const left = (await waiting()) - 1;
  expect(left).toBeLessThanOrEqual(1);

  const repeat = { "idempotency-key": "one" };
  const request = () => send("/job", { prompt: "Show the form.", files: [first] }, repeat);
  await killAt("update", request);
  expect([await jobs(), await attached()]).toEqual([0, 0]);
  const { id } = await request();
  expect((await request()).id).toBe(id);
  expect([await jobs(), await attached()]).toEqual([1, 1]);

  const { id: second } = await upload();
  const say = () => send(`/job/${id}/message`, { prompt: "And this one.", files: [second] });
  await killAt("update", say);
  const said = () => count("select from job_messages union all select from job_interjections");
  expect([await said(), await attached()]).toEqual([0, 1]);
  await say();
  expect([await said(), await attached()]).toEqual([1, 2]);

  // What nobody can name is not kept for ever.
  expect(await waiting()).toBe(left);
  await pool().query("update uploads set created_at = created_at - interval '2 days'");
  await dropUploads(pool());
  expect([await waiting(), await attached()]).toEqual([0, 2]);
});
