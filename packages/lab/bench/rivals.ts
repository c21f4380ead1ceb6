// Emend's queue beside those of others, in the same run, one after the other in every round:
// npm run bench -- rivals [--rounds 20] [--wait 90] [--write]. Needs redis-server, and the registry of npm.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createLogger } from "@emend/base/logger.ts";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { runOnServer, withDatabaseName } from "@emend/testkit/server.ts";
import { startThrowAwayServer } from "@emend/testkit/throw-away-server.ts";
import { migrate } from "../../server/src/db/migrate.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { median } from "./measure.ts";
import { installRivals, type Places, rivalPackages, startRedis, systems } from "./rival-queues.ts";
import { type RivalFigures, sections, writeSection } from "./sections.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "20" },
    wait: { type: "string", default: "90" },
    write: { type: "boolean" },
  },
});
if (positionals[0] === "work") await workHere(positionals[1] ?? "", JSON.parse(positionals[2] ?? ""));
else await compareAll(Number(values.rounds), Number(values.wait) * 1_000);

/** This process is a worker that one of the systems' users would write. */
async function workHere(name: string, places: Places): Promise<void> {
  const tell = (said: object) => process.stdout.write(`${JSON.stringify(said)}\n`);
  await systems[name]?.work(places, {
    started: (id) => tell({ started: id, at: Date.now() }),
    effect: (id) => tell({ effect: id }),
  });
  tell({ ready: true });
  process.stdin.resume().once("end", () => process.exit(0));
}

interface Line {
  ready?: true;
  started?: string;
  effect?: string;
  at?: number;
}

interface WorkerProcess {
  child: ChildProcess;
  lines: readonly Line[];
  /** False: it did not come in time. */
  heard(wanted: (line: Line) => boolean, msMax: number): Promise<Line | false>;
  kill(): Promise<void>;
}

async function startWorkerProcess(name: string, places: Places): Promise<WorkerProcess> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "work", name, JSON.stringify(places)], {
    // DBOS takes a process of the same id for the one that was lost, alive or not.
    env: { ...process.env, DBOS__VMID: randomUUID() },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines: Line[] = [];
  const heard: WorkerProcess["heard"] = async (wanted, msMax) => {
    for (const until = performance.now() + msMax; performance.now() < until; await pause(5)) {
      const line = lines.find(wanted);
      if (line) return line;
    }
    return false;
  };
  createInterface({ input: child.stdout }).on("line", (line) => line.startsWith('{"') && lines.push(JSON.parse(line)));
  if (!(await heard((line) => line.ready === true, 60_000))) throw new Error(`a worker of ${name} did not start`);
  return {
    child,
    lines,
    heard,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

interface Figures {
  enqueueMs: number[];
  dispatchMs: number[];
  /** Null: not within the time that was waited. */
  failoverMs: number | null;
  frozenEffects: number | null;
}

async function compareAll(rounds: number, waitMsMax: number): Promise<void> {
  console.log("installing", JSON.stringify(rivalPackages));
  await installRivals();
  const server = await startThrowAwayServer();
  const redisPort = 20_000 + (process.pid % 10_000);
  const redis = await startRedis(redisPort);
  try {
    const names = Object.keys(systems);
    const figures = new Map<string, Figures>();
    const places = new Map<string, Places>();
    // A database for each part: jobs that one leaves behind are no load on the next.
    const placeFor = (name: string, part: string) => placesOf(`${name} ${part}`, server.url, redisPort);
    for (const name of names) {
      figures.set(name, { enqueueMs: [], dispatchMs: [], failoverMs: null, frozenEffects: null });
      places.set(name, await placeFor(name, "latency"));
    }
    await measureLatency(names, places, figures, rounds);
    await Promise.all(
      names.map(async (name) => {
        const found = figures.get(name) as Figures;
        found.failoverMs = await failover(name, await placeFor(name, "failover"), waitMsMax);
        found.frozenEffects = await frozenEffects(name, await placeFor(name, "frozen"), waitMsMax);
      }),
    );
    const found = figuresOf(figures, waitMsMax);
    console.log(sections.rivals(found).table.join("\n"));
    const command = `npm run bench -- rivals --rounds ${rounds} --wait ${waitMsMax / 1000} --write`;
    if (values.write) await writeSection("rivals", command, found);
  } finally {
    await redis.stop();
    await server.stop();
  }
}

async function placesOf(name: string, serverUrl: string, redisPort: number): Promise<Places> {
  const database = `q_${name.replaceAll(/\W/g, "_").toLowerCase()}`;
  await runOnServer(serverUrl, `create database ${database} template template0 encoding 'UTF8'`);
  const postgres = withDatabaseName(serverUrl, database);
  if (!name.startsWith("Emend")) return { postgres, redisPort, projectId: "" };
  const pool = createPool({ url: postgres, connectionsMax: 1, log: createLogger({ level: "silent" }) });
  await migrate(pool);
  await createFarEnds(pool);
  const projectId = await seedProject(pool, { lanes: 10 });
  await pool.end();
  return { postgres, redisPort, projectId };
}

/** From the call to its return, and from the call to the handler's first line in another process that is idle. */
async function measureLatency(
  names: readonly string[],
  places: ReadonlyMap<string, Places>,
  figures: ReadonlyMap<string, Figures>,
  rounds: number,
): Promise<void> {
  const open = await Promise.all(
    names.map(async (name) => {
      const place = places.get(name) as Places;
      const worker = await startWorkerProcess(name, place);
      return { name, worker, queue: await (systems[name] as (typeof systems)[string]).open(place) };
    }),
  );
  try {
    for (let round = 0; round < rounds + 3; round += 1) {
      for (const { name, worker, queue } of open) {
        const id = `latency ${round}`;
        const [at, clock] = [performance.now(), Date.now()];
        await queue.enqueue(id, 0);
        const enqueueMs = performance.now() - at;
        const line = await worker.heard(({ started }) => started === id, 20_000);
        if (!line) throw new Error(`${name} did not start a job in 20 s`);
        // The first rounds warm up.
        if (round >= 3) {
          figures.get(name)?.enqueueMs.push(enqueueMs);
          figures.get(name)?.dispatchMs.push((line.at ?? 0) - clock);
        }
        await pause(50);
      }
    }
  } finally {
    await Promise.all(open.map(({ worker }) => worker.kill()));
    await Promise.all(open.map(({ queue }) => queue.close()));
  }
}

/** A worker with a job is killed with -9 while another is idle: until the other has the job. */
async function failover(name: string, place: Places, waitMsMax: number): Promise<number | null> {
  const { first, second, queue } = await twoWorkers(name, place, "failover", 600_000);
  try {
    const killedAt = performance.now();
    await first.kill();
    const taken = await second.heard(({ started }) => started === "failover", waitMsMax);
    return taken ? performance.now() - killedAt : null;
  } finally {
    await Promise.all([first.kill(), second.kill(), queue.close()]);
  }
}

/** A worker is frozen in its job until another has done it, and then goes on: how often the effect was had. */
async function frozenEffects(name: string, place: Places, waitMsMax: number): Promise<number | null> {
  const { first, second, queue } = await twoWorkers(name, place, "frozen", 3_000, "SIGSTOP");
  try {
    const done = await second.heard(({ effect }) => effect === "frozen", waitMsMax);
    first.child.kill("SIGCONT");
    if (!done) return null;
    await first.heard(({ effect }) => effect === "frozen", 8_000);
    return [...first.lines, ...second.lines].filter(({ effect }) => effect === "frozen").length;
  } finally {
    await Promise.all([first.kill(), second.kill(), queue.close()]);
  }
}

async function twoWorkers(name: string, place: Places, id: string, ms: number, atOnce?: "SIGSTOP") {
  const queue = await (systems[name] as (typeof systems)[string]).open(place);
  const first = await startWorkerProcess(name, place);
  await queue.enqueue(id, ms);
  if (!(await first.heard(({ started }) => started === id, 30_000))) throw new Error(`${name} did not start ${id}`);
  // Before the other starts: on a busy machine that takes longer than the job.
  if (atOnce) first.child.kill(atOnce);
  return { queue, first, second: await startWorkerProcess(name, place) };
}

function figuresOf(all: ReadonlyMap<string, Figures>, waitMsMax: number): RivalFigures {
  const versions = new Map(Object.entries(rivalPackages).map(([name, version]) => [name.toLowerCase(), version]));
  const versionOf = (name: string) =>
    versions.get(name.toLowerCase()) ?? versions.get(`@dbos-inc/${name.toLowerCase()}-sdk`) ?? "(this commit)";
  const spread = (ms: readonly number[]) => {
    const sorted = ms.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
    return { p10: at(0.1), p50: median(ms), p90: at(0.9) };
  };
  const queues = [...all].map(([name, { enqueueMs, dispatchMs, failoverMs, frozenEffects }]) => ({
    name,
    version: `${name} ${versionOf(name)}`,
    enqueueMs: spread(enqueueMs),
    dispatchMs: spread(dispatchMs),
    failoverS: failoverMs === null ? null : failoverMs / 1000,
    frozenEffects,
  }));
  return { waitMsMax, queues };
}
