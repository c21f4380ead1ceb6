// Where the server's time goes: npm run profile -- get|post|job [--seconds 10] [--write]. The requests come from a thread of
// its own, so that the profile has only the server. Idle time is left out.
import { once } from "node:events";
import { Session } from "node:inspector/promises";
import { type AddressInfo, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { loadConfig } from "../../server/src/config/config.ts";
import { startServer } from "../../server/src/index.ts";
import { writeResults } from "../../site/bench/results.ts";
import { untilAllEnded } from "../chaos/post-job.ts";
import { chaosPrompt, makeInstallation } from "../chaos/serve-process.ts";
import { startBenchDatabase } from "./database.ts";

const kinds = ["get", "post", "job"] as const;
const clients = 8;
const shownMax = 12;

interface Load {
  url: string;
  method: "GET" | "POST";
  key: string;
  ms: number;
}

if (isMainThread) await profile();
else parentPort?.postMessage(await sendLoad(workerData as Load));

async function profile(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { seconds: { type: "string", default: "10" }, write: { type: "boolean" } },
  });
  const kind = kinds.find((each) => each === positionals[0]);
  const ms = Number(values.seconds) * 1000;
  if (!kind || !(ms > 0)) {
    console.error(`usage: npm run profile -- ${kinds.join("|")} [--seconds 10] [--write]`);
    process.exit(2);
  }
  const database = await startBenchDatabase("silent");
  const installation = await makeInstallation(database.url);
  // For workers a role of their own: only the profile of a job has them.
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}`;
  const ofRole = kind === "job" ? {} : { EMEND_ROLE: "api", EMEND_PUBLIC_URL: url };
  const server = await startServer(
    loadConfig({ ...installation.env, ...ofRole, EMEND_PORT: port, EMEND_LOG_LEVEL: "silent" }),
  );
  try {
    const jobs = `${url}/v2/agent/${installation.projectId}/job`;
    const { key } = installation;
    const post = { url: jobs, method: "POST", key } as const;
    const { firstId } = await load({ ...post, ms: 1 });
    const asked = kind === "get" ? ({ url: `${jobs}/${firstId}`, method: "GET", key } as const) : post;
    // While a job's machine code is being compiled, it costs several times as much.
    await load({ ...asked, ms: kind === "job" ? ms / 4 : ms / 2 });
    if (kind === "job") await untilAllEnded(database.pool);
    const session = new Session();
    session.connect();
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    const { answers } = await load({ ...asked, ms: kind === "job" ? ms / 4 : ms });
    if (kind === "job") await untilAllEnded(database.pool);
    const { profile: taken } = await session.post("Profiler.stop");
    session.disconnect();
    const { busyUs, costs } = sumUp(taken);
    const share = (us: number) => `${((100 * us) / busyUs).toFixed(1)} %`;
    const lines = [
      `| ${kind === "job" ? "a job" : kind.toUpperCase()}: where its processor time goes | share | most of it in |`,
      "|---|---:|---|",
      ...costs.slice(0, shownMax).map(({ where, us, inside }) => `| ${where} | ${share(us)} | ${inside} |`),
    ];
    console.log(lines.join("\n"));
    console.log(`${answers} answers, ${(busyUs / answers / 1000).toFixed(3)} ms of the main thread each`);
    const command = `npm run profile -- ${kind} --seconds ${values.seconds} --write`;
    if (values.write) await writeResults(`profile of ${kind}`, command, { table: lines });
  } finally {
    await server.stop();
    await installation.remove();
    await database.close();
  }
}

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address() as AddressInfo;
  socket.close();
  await once(socket, "close");
  return port;
}

function load(data: Load): Promise<{ answers: number; firstId: string }> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: data });
  return new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
}

async function sendLoad({ url, method, key, ms }: Load): Promise<{ answers: number; firstId: string }> {
  const body = method === "POST" ? JSON.stringify({ prompt: chaosPrompt }) : undefined;
  const headers = { authorization: `Bearer ${key}`, ...(body && { "content-type": "application/json" }) };
  const until = performance.now() + ms;
  let answers = 0;
  let firstId = "";
  const client = async () => {
    do {
      const answer = await fetch(url, { method, headers, ...(body && { body }) });
      const { id } = (await answer.json()) as { id: string };
      if (!answer.ok) throw new Error(`${method} got ${answer.status}`);
      firstId ||= id;
      answers += 1;
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: ms > 1 ? clients : 1 }, client));
  return { answers, firstId };
}

type Taken = { nodes: ProfileNode[]; samples?: number[]; timeDeltas?: number[] };
interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string };
}

/** By package, by folder of ours, or by part of Node, with the function that takes most of it. */
function sumUp({ nodes, samples = [], timeDeltas = [] }: Taken) {
  const nodeOf = new Map(nodes.map((node) => [node.id, node.callFrame]));
  const spent = new Map<string, Map<string, number>>();
  let busyUs = 0;
  for (const [index, id] of samples.entries()) {
    const frame = nodeOf.get(id);
    // The inspector's own time is that of taking the profile.
    if (!frame || frame.functionName === "(idle)" || frame.url === "node:inspector") continue;
    const us = timeDeltas[index] ?? 0;
    const functions = spent.get(whereIs(frame)) ?? new Map<string, number>();
    spent.set(whereIs(frame), functions);
    const name = frame.functionName || "(anonymous)";
    functions.set(name, (functions.get(name) ?? 0) + us);
    busyUs += us;
  }
  const costs = [...spent].map(([where, functions]) => {
    const [most] = [...functions].sort((a, b) => b[1] - a[1]);
    return { where, us: [...functions.values()].reduce((sum, us) => sum + us, 0), inside: `\`${most?.[0]}\`` };
  });
  return { busyUs, costs: costs.sort((a, b) => b.us - a.us) };
}

function whereIs({ functionName, url }: ProfileNode["callFrame"]): string {
  if (functionName === "(garbage collector)") return "garbage collection";
  if (url === "") return "Node.js and V8, native";
  if (url.startsWith("node:")) return url.split("/").slice(0, 2).join("/");
  const ours = /packages\/(\w+)\/(?:src\/([\w-]+))?/.exec(url);
  return (
    /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(url)?.[1] ?? (ours ? `${ours[1]}: ${ours[2]}` : url)
  );
}
