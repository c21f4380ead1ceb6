// Jobs on hostile repositories with an obedient model, while other clients ask for the server's health.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { growthInputs, staircase } from "./growth/inputs.ts";
import { assert, startInstallation } from "./installation.ts";

const mebibyte = 2 ** 20;
const rssBytesMax = 600 * mebibyte;
/** In CPU time of the main thread while one request waits: a busy machine adds its own wait. */
const busyMsMax = 100;

interface HostileJob {
  name: string;
  docs: Readonly<Record<string, string>>;
  /** The rules that need no model do this job. */
  isRules?: boolean;
  call?: readonly [name: string, input: unknown];
}

const textOf = (index: number, characters: number) =>
  [...growthInputs({ seed: index, pairs: 3 })][(index * 7) % 60]?.grow(characters) ?? "";
const hundred = Array.from({ length: 100 }, (_, index) => ({ oldText: `no ${index}`, newText: "*a ".repeat(10_000) }));
const jobs: readonly HostileJob[] = [
  {
    name: "100 edits that match nothing in 3 MB",
    docs: { "index.md": `# A\n\n${"Some words of a page. ".repeat(3_000_000 / 22)}\n` },
    call: ["edit_file", { path: "index.md", edits: hundred }],
  },
  {
    name: "57 hostile files",
    docs: Object.fromEntries(
      Array.from({ length: 57 }, (_, index) => [
        `page-${index}.md`,
        `# A\n\n[a](missing.md)\n\n${textOf(index, 300_000)}`,
      ]),
    ),
    isRules: true,
  },
  {
    name: "2 MB of backticks",
    docs: { "index.md": `# A\n\n[a](missing.md)\n\n${staircase("`", 2_000_000)}\n` },
    isRules: true,
  },
];

/** Asks again and again, in a thread of its own: this one is the model too, and busy with its answers. */
const askHealth = `
const { parentPort, workerData } = require("node:worker_threads");
parentPort.on("message", async () => {
  const startedAt = performance.now();
  await (await fetch(workerData)).text();
  parentPort.postMessage(Math.round(performance.now() - startedAt));
});`;

/** The longest wait for `/healthz`, the most memory, and how each job ended. */
export async function tryHostileJobs(): Promise<string> {
  const far = await startFarModel((turn, { messages }) => {
    const { call } = jobs.find(({ name }) => JSON.stringify(messages).includes(name)) ?? {};
    return turn === 0 && call !== undefined ? [call as [string, unknown]] : "There is nothing to do.";
  });
  const host = await startInstallation(undefined, { ...far.environment, EMEND_MODEL: protocols[0] });
  const health = new Worker(askHealth, { eval: true, workerData: `${host.url}/healthz` });
  const latency = async () => {
    health.postMessage("ask");
    const [ms] = (await once(health, "message")) as [number];
    return ms;
  };
  const lines: string[] = [];
  const broken: string[] = [];
  try {
    for (const job of jobs) lines.push(await runJob(job));
  } finally {
    await health.terminate();
    await host.stop();
    await far.stop();
  }
  assert(broken.length === 0, lines.join("\n"));
  return `\n  ${lines.join("\n  ")}`;

  async function runJob({ name, docs, isRules = false }: HostileJob): Promise<string> {
    const { projectId, key } = await host.addProject(name, docs, { models: [...protocols, "emend/rules"] });
    const client = clientOf(host, projectId, key);
    const startedAt = performance.now();
    const prompt = isRules ? "Fix broken links." : `Improve the page: ${name}.`;
    const created = await client.create({ prompt, ...(isRules && { model: "emend/rules" }) });
    let [healthMs, busyMs, rssBytes, isOver] = [0, 0, 0, false];
    const ended = client.untilFinal(created.id).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const before = host.mainThreadMs();
      healthMs = Math.max(healthMs, await latency());
      busyMs = Math.max(busyMs, host.mainThreadMs() - before);
      rssBytes = Math.max(rssBytes, host.rssBytes());
    }
    const { status } = await ended;
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const { failure } = await client.run(created.id);
    const found =
      `${name}: /healthz within ${healthMs} ms (${busyMs} ms of the main thread), ${Math.round(rssBytes / mebibyte)} MiB, ` +
      `${status} after ${seconds} s${failure ? `: ${failure.message}` : ""}`;
    if (busyMs > busyMsMax || rssBytes > rssBytesMax) broken.push(name);
    return found;
  }
}
