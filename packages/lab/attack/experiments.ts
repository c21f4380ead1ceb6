import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { deflateSync } from "node:zlib";
import { tryAnswers, tryCompressedBody, tryOddBranches, trySlowHeaders } from "./floods.ts";
import { tryHostileJobs } from "./hostile-jobs.ts";
import { assert, cloneOf, git, type Installation, latency, openSocket } from "./installation.ts";
import { type Caller, isRight, matrixOf } from "./matrix.ts";

/** One attack: its name says what it does, and it returns what it found. It throws if a promise was broken. */
export interface Experiment {
  name: string;
  run(host: Installation): Promise<string>;
}

const mebibyte = 2 ** 20;
const atOnce = 6;
/** The promised limit: whatever is sent, the process grows by no more. */
const growthBytesMax = 200 * mebibyte;

export const experiments: readonly Experiment[] = [
  { name: "every route by every caller", run: tryMatrix },
  { name: "deep, odd and broken bodies at every route that takes one", run: tryBodies },
  { name: "prompts made of credentials", run: (host) => bounded(host, tryPrompts) },
  { name: "bodies without a key, from 400 connections", run: (host) => bounded(host, tryHooks) },
  { name: "60 slow readers of a 12 MB diff", run: (host) => bounded(host, trySlowReaders) },
  { name: "300 connections that never end their headers", run: (host) => bounded(host, trySlowHeaders) },
  { name: "refs of another kind, pushed", run: tryRefs },
  { name: "branches named like options, paths and other refs", run: tryOddBranches },
  { name: "1 GB of zeros, compressed, to the local forge", run: (host) => bounded(host, tryCompressedBody) },
  { name: "answers of models and forges without an end", run: tryAnswers },
  { name: "a tree bomb, pushed and worked on", run: (host) => bounded(host, tryTreeBomb) },
  { name: "hostile repositories and answers, while others ask for the server's health", run: tryHostileJobs },
  { name: "canaries, in answers, log and database", run: tryCanaries },
];

/** The responses, in which canaries are looked for. */
const heard: string[] = [];

async function send(host: Installation, route: string, caller: Caller, body?: string): Promise<number> {
  const [method = "GET", path = "/"] = route.split(" ");
  const key = host.keys[caller];
  const url = path
    .replace(":projectId", host.projectId)
    .replace(":repository", `${host.projectId}.git`)
    .replace(/:\w+/g, "nothing")
    .replace("*", "nothing");
  const query = path.endsWith("/info/refs") ? "?service=git-upload-pack" : "";
  const type = /git-(upload|receive)-pack$/.exec(path)?.[0];
  const answer = await fetch(`${host.url}${url}${query}`, {
    method,
    redirect: "manual",
    signal: AbortSignal.timeout(60_000),
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(method !== "GET" && { "content-type": typeOf(path, type) }),
    },
    ...(method !== "GET" && { body: body ?? (type ? "0000" : "{}") }),
  });
  const reader = answer.body?.getReader();
  // Event streams do not end: their headers are enough here.
  const first = await Promise.race([reader?.read(), pause(2_000, undefined)]);
  heard.push(JSON.stringify([...answer.headers]), Buffer.from(first?.value ?? []).toString("utf8"));
  await reader?.cancel();
  return answer.status;
}

function typeOf(path: string, service: string | undefined): string {
  if (service !== undefined) return `application/x-${service}-request`;
  return path.startsWith("/forge/") ? "application/x-www-form-urlencoded" : "application/json";
}

export async function tryMatrix(host: Installation): Promise<string> {
  const { cells, missing, stale } = matrixOf(host.routes);
  assert(missing.length === 0, `routes without a row in attack/matrix.ts: ${missing.join(", ")}`);
  assert(stale.length === 0, `rows without a route in attack/matrix.ts: ${stale.join(", ")}`);
  const wrong: string[] = [];
  for (let at = 0; at < cells.length; at += atOnce) {
    const tried = cells.slice(at, at + atOnce).map(async ({ route, caller, wanted }) => {
      const status = await send(host, route, caller);
      // The requested object does not exist, so an authorized caller may get 404.
      if (!isRight(wanted, status)) wrong.push(`${route} by ${caller}: ${status}, not ${wanted}`);
    });
    await Promise.all(tried);
  }
  assert(wrong.length === 0, wrong.join("\n"));
  return `${host.routes.length} routes × ${cells.length / host.routes.length} callers`;
}

async function tryBodies(host: Installation): Promise<string> {
  const bodies = [
    `{"prompt":${"[".repeat(500_000)}${"]".repeat(500_000)}}`,
    `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`,
    '{"__proto__":{"prompt":"x"},"constructor":1}',
    `{"prompt":"${"\\u0000".repeat(1_000)}"}`,
    "[".repeat(1_000_000),
    "null",
    "",
  ];
  const wrong: string[] = [];
  const posts = host.routes.filter((route) => !route.startsWith("GET") && !route.includes("git-"));
  for (const route of posts) {
    for (const [index, body] of bodies.entries()) {
      const status = await send(host, route, "write key", body);
      if (status >= 500) wrong.push(`${route}: ${status} for body ${index}`);
    }
  }
  assert(wrong.length === 0, wrong.join("\n"));
  return `${posts.length * bodies.length} requests, no 5xx`;
}

async function tryPrompts(host: Installation): Promise<string> {
  const prompt = `${"xapp-1-a ".repeat(10_000)}0123456789-0123456789`;
  const route = "POST /v2/agent/:projectId/job";
  const statuses = await Promise.all(
    Array.from({ length: 30 }, () => send(host, route, "write key", JSON.stringify({ prompt }))),
  );
  assert(
    statuses.every((status) => status === 400 || status === 429),
    `answers: ${[...new Set(statuses)]}`,
  );
  return `30 prompts of 90 kB, all refused; the process answered ${await latency(host)} ms after`;
}

async function tryHooks(host: Installation): Promise<string> {
  const signature = `x-hub-signature-256: sha256=${"0".repeat(64)}\r\n`;
  const sockets: ReturnType<typeof openSocket>[] = [];
  for (let index = 0; index < 400; index += 1) {
    const path = `/hooks/github/${index % 2 === 0 ? host.projectId : "prj_none"}`;
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n${index % 4 < 2 ? signature : ""}content-length: ${mebibyte}\r\n\r\n`;
    sockets.push(openSocket(host, head, Buffer.alloc(mebibyte - 10, 32)));
    // A few at a time, so that a response is read before the connection is closed.
    if (index % 20 === 19) await pause(100);
  }
  const count = () => sockets.filter(({ bytes, socket }) => bytes() > 0 || socket.destroyed).length;
  for (let waited = 0; waited < 60 && count() < 300; waited += 1) await pause(1_000);
  const refused = count();
  for (const { socket } of sockets) socket.destroy();
  assert(refused >= 300, `only ${refused} of 400 were refused before their bodies ended`);
  return `${refused} of 400 refused before their bodies ended`;
}

async function trySlowReaders(host: Installation): Promise<string> {
  const id = `job_${randomBytes(12).toString("hex").slice(0, 23)}`;
  const diff = `diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -0,0 +1 @@\n+${randomBytes(6_000_000).toString("hex")}\n`;
  await host.pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, created_by, status, diff)
     values ($1, $2, 'x', 'emend/rules', 'https://docs.test/x', 'emend/x', 'attack', 'failed', $3)`,
    [id, host.projectId, deflateSync(diff)],
  );
  const head = (accept: string) =>
    `GET /v2/agent/${host.projectId}/job/${id}/diff HTTP/1.1\r\nhost: x\r\naccept: ${accept}\r\nauthorization: Bearer ${host.keys["read key"]}\r\n\r\n`;
  const readers = Array.from({ length: 60 }, (_, index) => {
    const reader = openSocket(host, head(index % 2 ? "application/json" : "text/x-diff"), null);
    reader.socket.once("data", () => reader.socket.pause());
    return reader;
  });
  const heads = () => readers.map(({ start }) => Number(/^HTTP\/1\.1 (\d+)/.exec(start())?.[1] ?? 0));
  // Slow readers keep their responses for a while.
  await pause(8_000);
  for (let waited = 0; waited < 60 && heads().includes(0); waited += 1) await pause(1_000);
  const statuses = heads();
  for (const { socket } of readers) socket.destroy();
  assert(
    statuses.every((status) => status === 200 || status === 429),
    `answers: ${[...new Set(statuses)]}`,
  );
  return `${statuses.filter((status) => status === 200).length} read, ${statuses.filter((status) => status === 429).length} told to wait`;
}

async function tryRefs(host: Installation): Promise<string> {
  const work = cloneOf(host, "refs");
  const head = git(work, "rev-parse", "HEAD").trim();
  for (const ref of [`refs/replace/${head}`, "refs/notes/commits", "refs/emend/base/x", "refs/pull/1/head"]) {
    const pushed = spawnSync("git", ["push", "origin", `HEAD:${ref}`], { cwd: work, encoding: "utf8" });
    assert(pushed.status !== 0 && /hidden ref|denied/.test(pushed.stderr), `${ref} was taken: ${pushed.stderr}`);
  }
  return "all refused";
}

async function tryTreeBomb(host: Installation): Promise<string> {
  const work = cloneOf(host, "bomb");
  let tree = git(work, "rev-parse", "HEAD^{tree}").trim();
  for (let level = 0; level < 9; level += 1) {
    const entries = Array.from({ length: 10 }, (_, index) => `040000 tree ${tree}\td${index}`).join("\n");
    tree = git(work, ["mktree"], `${entries}\n`).trim();
  }
  const commit = git(work, [
    "-c",
    "user.name=a",
    "-c",
    "user.email=a@b.c",
    "commit-tree",
    "-p",
    "HEAD",
    "-m",
    "b",
    tree,
  ]);
  git(work, "push", "--quiet", "origin", `${commit.trim()}:refs/heads/bomb`);
  const answer = await fetch(`${host.url}/v2/agent/${host.projectId}/job`, {
    method: "POST",
    headers: { authorization: `Bearer ${host.keys["write key"]}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt: 'Replace "API token" with "access key".', baseRef: "bomb" }),
  });
  const { id } = (await answer.json()) as { id: string };
  for (let tries = 0; tries < 120; tries += 1) {
    const { rows } = await host.pool.query("select status, failure_message from jobs where id = $1", [id]);
    if (rows[0]?.status !== "active") {
      assert(/more than \d+ files/.test(rows[0]?.failure_message ?? ""), `it ended as ${JSON.stringify(rows[0])}`);
      return `refused: ${rows[0].failure_message}`;
    }
    await pause(1_000);
  }
  throw new Error("its job did not end within two minutes");
}

async function tryCanaries(host: Installation): Promise<string> {
  const { rows: tables } = await host.pool.query<{ name: string }>(
    "select quote_ident(table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const places: [string, string][] = [
    ["an answer", heard.join("\n")],
    ["the log", host.log()],
  ];
  for (const { name } of tables) {
    const { rows } = await host.pool.query(`select row_to_json(t)::text as row from ${name} t`);
    places.push([`the table ${name}`, rows.map(({ row }) => row).join("\n")]);
  }
  const secrets = { ...host.canaries, writeKey: host.keys["write key"] ?? "" };
  for (const [kind, canary] of Object.entries(secrets)) {
    for (const [place, text] of places) assert(!text.includes(canary), `the canary of ${kind} is in ${place}`);
  }
  return `${Object.keys(secrets).length} canaries, ${heard.length} answers, ${tables.length} tables: none seen`;
}

/** Runs an attack and checks the server's memory limit. Other clients must be answered meanwhile. */
async function bounded(host: Installation, attack: (host: Installation) => Promise<string>): Promise<string> {
  const before = host.rssBytes();
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, host.rssBytes());
  }, 100);
  try {
    const found = await attack(host);
    const grown = Math.round((peak - before) / mebibyte);
    assert(peak - before <= growthBytesMax, `the process grew by ${grown} MiB (${found})`);
    return `${found}; memory +${grown} MiB`;
  } finally {
    clearInterval(sampler);
  }
}
