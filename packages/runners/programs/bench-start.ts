// npm run bench -- start [--rounds 5] [--write]: from the order to the first request that reaches a model on loopback, and
// the memory until then: a job of Emend, beside `claude -p` and `codex exec`, in turn.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startBenchDatabase } from "../../lab/bench/database.ts";
import { memoryMb, processorMs } from "../../lab/bench/processor-time.ts";
import { type StartSample as Sample, sections, writeSection } from "../../lab/bench/sections.ts";
import { makeInstallation, startServe } from "../../lab/chaos/serve-process.ts";
import { claudeCode } from "../src/programs/claude-code.ts";
import { codex } from "../src/programs/codex.ts";
import { installPrograms, programs, programsBin, runHere } from "./install-programs.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "5" }, write: { type: "boolean" } } });
const rounds = Number(values.rounds);
/** As many as the lanes of the project allow. */
const waiting = 8;
const prompt = "Give index.md a better title.";

const dir = await mkdtemp(join(tmpdir(), "emend-start-"));
await installPrograms(programs.filter(({ runner }) => runner !== "opencode"));
await writeFile(join(dir, "index.md"), "# Docs\n\nAn API token opens the door.\n");
const model = await startModel();
const database = await startBenchDatabase("silent");
const installation = await makeInstallation(database.url);
const emendEnv = {
  ...installation.env,
  EMEND_MODEL: "anthropic/claude-sonnet-4-5",
  EMEND_CONCURRENCY: String(waiting),
  ANTHROPIC_API_KEY: "sk-test-0123456789",
  ANTHROPIC_BASE_URL: model.url,
};
const server = await startServe(emendEnv);
try {
  const starts: Readonly<Record<string, () => Promise<Sample>>> = {
    "a job of Emend, server running": () => startJob(server.port, server.child.pid ?? 0),
    "a job of Emend, server started for it": async () => {
      const startedAt = performance.now();
      const own = await startServe(emendEnv);
      const sample = await startJob(own.port, own.child.pid ?? 0);
      const all = { ...sample, ms: performance.now() - startedAt, processorMs: processorMs(own.child.pid ?? 0) };
      model.refuseAll();
      await own.stop();
      return all;
    },
    [`claude -p (${runHere(join(programsBin, "claude"), ["--version"]).trim()})`]: () => startProgram(claudeCode, null),
    [`codex exec (${runHere(join(programsBin, "codex"), ["--version"]).trim()})`]: () => startProgram(codex, "gpt-5"),
  };
  const samples = new Map<string, Sample[]>(Object.keys(starts).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, start] of Object.entries(starts)) {
      const sample = await start();
      model.refuseAll();
      console.log(
        `${name}: ${sample.ms.toFixed(0)} ms, ${sample.processorMs.toFixed(0)} ms of processor time, ${sample.memoryMb.toFixed(0)} MB`,
      );
      // The first round fills caches.
      if (round > 0) samples.get(name)?.push(sample);
    }
  }
  const before = memoryMb(server.child.pid ?? 0);
  await Promise.all(Array.from({ length: waiting }, () => startJob(server.port, server.child.pid ?? 0)));
  const more = (memoryMb(server.child.pid ?? 0) - before) / waiting;
  model.refuseAll();

  const figures = { samples: Object.fromEntries(samples), waiting, megabytesForEachWaitingJob: more };
  console.log(`\n${sections.start(figures).table.join("\n")}`);
  if (values.write) await writeSection("start", `npm run bench -- start --rounds ${rounds} --write`, figures);
} finally {
  model.refuseAll();
  await server.stop();
  await installation.remove();
  await database.close();
  await model.close();
  await rm(dir, { recursive: true, force: true });
}
process.exit();

/** From the post to the request. The server's memory has all of its other jobs in it. */
async function startJob(port: number, pid: number): Promise<Sample> {
  const [startedAt, before] = [performance.now(), processorMs(pid)];
  const asked = model.next();
  const response = await fetch(`http://127.0.0.1:${port}/v2/agent/${installation.projectId}/job`, {
    method: "POST",
    headers: { authorization: `Bearer ${installation.key}`, "content-type": "application/json" },
    body: JSON.stringify({ prompt }),
  });
  if (response.status !== 201) throw new Error(await response.text());
  await asked;
  return { ms: performance.now() - startedAt, processorMs: processorMs(pid) - before, memoryMb: memoryMb(pid) };
}

async function startProgram(program: typeof codex, modelName: string | null): Promise<Sample> {
  const asked = model.next();
  const startedAt = performance.now();
  const order = { token: "sk-test-0123456789", gatewayUrl: model.url, model: modelName, isSandboxed: true };
  const child = spawn(join(programsBin, program.command), program.arguments(order), {
    cwd: dir,
    env: { PATH: process.env.PATH ?? "", HOME: dir, ...program.environment(order) },
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const ended = once(child, "exit");
  child.stdin.end(prompt);
  const early = ended.then(() => Promise.reject(new Error(`${program.command} ended before it asked: ${said}`)));
  early.catch(() => {});
  await Promise.race([asked, early]);
  const pid = child.pid ?? 0;
  const sample = { ms: performance.now() - startedAt, processorMs: processorMs(pid), memoryMb: memoryMb(pid) };
  // With all that it started.
  process.kill(-pid, "SIGKILL");
  await ended;
  return sample;
}

/** Takes requests and leaves them without an answer until all are refused. */
async function startModel() {
  const open = new Set<ServerResponse>();
  let heard: (() => void)[] = [];
  const http = createServer((request, response) => {
    request.resume();
    if (request.method !== "POST" || !/\/(messages|responses|chat\/completions)(\?|$)/.test(request.url ?? "")) {
      response.writeHead(404).end("{}");
      return;
    }
    open.add(response);
    heard.shift()?.();
  }).listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    next: () => new Promise<void>((resolve) => heard.push(resolve)),
    refuseAll() {
      heard = [];
      for (const response of open)
        response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"No."}}');
      open.clear();
    },
    close: async () => {
      http.closeAllConnections();
      http.close();
    },
  };
}
