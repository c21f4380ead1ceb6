// One Postgres, and 1, 2 and 4 processes: polls, creates and jobs a second, what each costs in processor time, and what the
// database bears. `npm run simulate` takes these figures. npm run bench -- scale [--rounds 3] [--jobs 48] [--write]
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { spawnWorker } from "@emend/testkit/worker-control.ts";
import { openAdmin } from "../../server/src/admin/open-admin.ts";
import { loadConfig } from "../../server/src/config/config.ts";
import { untilAllEnded } from "../chaos/post-job.ts";
import { type ServeProcess, startServe } from "../chaos/serve-process.ts";
import { startBenchDatabase } from "./database.ts";
import { measureDatabase } from "./database-limits.ts";
import { median, requestRate } from "./measure.ts";
import { machineBusyMs, postgresPid, processorMs } from "./processor-time.ts";
import { writeSection } from "./sections.ts";
import { type ScaleFigures, scaleTable } from "./simulation-model.ts";
import { planCommand, planSeed, simulatePlan } from "./simulation-plan.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    jobs: { type: "string", default: "48" },
    write: { type: "boolean" },
  },
});
const rounds = Number(values.rounds);
const processCounts = [1, 2, 4] as const;
const clients = 32;
/** By number and not by time: on a busy machine a time would measure the compiler. */
const requests = { poll: 10_000, create: 1_500 };
const sliceMs = 250;
const jobsEachRound = Number(values.jobs);
const projects = 8;

type Operation = "poll" | "create" | "job";
interface Measured {
  perSecond: number;
  /** Processor time of one operation, in the processes of Emend and in Postgres. */
  nodeMs: number;
  postgresMs: number;
  walBytes: number;
  /** Processors that others than this bench used meanwhile. */
  others: number;
  /** Processors in use, all together. */
  busy: number;
}

const database = await startBenchDatabase("silent");
const dir = await mkdtemp(join(tmpdir(), "emend-scale-"));
const env = {
  EMEND_DATABASE_URL: database.url,
  EMEND_SECRET: "the secret of a bench, and of nothing else",
  EMEND_DATA_DIR: join(dir, "data"),
  EMEND_FORGE_DIR: join(dir, "forge"),
  EMEND_CONCURRENCY: "8",
  EMEND_PUBLIC_URL: "http://emend.test",
};
try {
  const { projectIds, key } = await install();
  const postgres = await postgresPid(database.pool);
  const found = new Map<string, Measured[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const count of processCounts) {
      for (const [operation, measured] of await measureWith(count)) {
        const name = `${operation} ${count}`;
        found.set(name, [...(found.get(name) ?? []), measured]);
        console.log(`round ${round + 1}, ${count} processes, ${operation}: ${measured.perSecond.toFixed(1)}/s`);
      }
    }
  }
  const of = (operation: Operation, count: number): Measured => {
    const all = found.get(`${operation} ${count}`) ?? [];
    const pick = (what: keyof Measured) => median(all.map((one) => one[what]));
    return {
      perSecond: pick("perSecond"),
      nodeMs: pick("nodeMs"),
      postgresMs: pick("postgresMs"),
      walBytes: pick("walBytes"),
      others: pick("others"),
      busy: pick("busy"),
    };
  };
  const turns = await measureTurns(projectIds, postgres);
  const limits = await measureDatabase(database, projectIds[0] ?? "");
  const figures: ScaleFigures = {
    cores: cpus().length,
    processes: processCounts.map((count) => ({
      count,
      poll: of("poll", count),
      create: of("create", count),
      job: of("job", count),
    })),
    ...turns,
    database: limits,
  };
  const table = scaleTable(figures);
  console.log(`\n${table}`);
  if (values.write) {
    await writeSection("scale", `npm run bench -- scale --rounds ${rounds} --jobs ${jobsEachRound} --write`, figures);
    // The plan of docs/scale.md follows from these figures.
    await writeSection("simulation", planCommand(planSeed), simulatePlan(figures, planSeed));
  }

  async function measureWith(count: number): Promise<[Operation, Measured][]> {
    const apis = await startAll(count, "api");
    const result: [Operation, Measured][] = [];
    try {
      const [first] = apis as [ServeProcess];
      const jobsPath = `/v2/agent/${projectIds[0]}/job`;
      const created = await fetch(`http://127.0.0.1:${first.port}${jobsPath}`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ prompt: "Hello." }),
      });
      const { id } = (await created.json()) as { id: string };
      const poll = `GET ${jobsPath}/${id} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
      const slice = { connections: clients / count, ms: sliceMs };
      const pollAll = async (least: number) => {
        let done = 0;
        while (done < least) {
          const startedAt = performance.now();
          const rates = await Promise.all(apis.map(({ port }) => requestRate(port, poll, slice)));
          done += (rates.reduce((sum, rate) => sum + rate, 0) * (performance.now() - startedAt)) / 1000;
        }
        return done;
      };
      // Compiles the hot path.
      await pollAll(requests.poll * count);
      result.push(["poll", await watch(apis, () => pollAll(requests.poll))]);
      await createAll(apis, requests.create * count);
      result.push(["create", await watch(apis, () => createAll(apis, requests.create))]);
    } finally {
      await Promise.all(apis.map((node) => node.stop()));
    }
    await database.pool.query("delete from jobs where status = 'active'");
    const workers = await startAll(count, "worker");
    try {
      await enqueue(count * 8);
      await untilAllEnded(database.pool);
      result.push([
        "job",
        await watch(workers, async () => {
          await enqueue(jobsEachRound);
          await untilAllEnded(database.pool);
          return jobsEachRound;
        }),
      ]);
    } finally {
      await Promise.all(workers.map((node) => node.stop()));
    }
    return result;
  }

  function startAll(count: number, role: "api" | "worker"): Promise<ServeProcess[]> {
    return Promise.all(
      Array.from({ length: count }, async () => startServe({ ...env, EMEND_ROLE: role }, undefined, await freePort())),
    );
  }

  async function watch(nodes: readonly ServeProcess[], load: () => Promise<number>): Promise<Measured> {
    const pids = nodes.map(({ child }) => child.pid ?? 0);
    const look = async () => ({
      at: performance.now(),
      node: pids.reduce((sum, pid) => sum + processorMs(pid), 0),
      postgres: processorMs(postgres),
      own: process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000,
      machine: machineBusyMs(),
      wal: await walBytes(),
    });
    const before = await look();
    const done = await load();
    const after = await look();
    const ms = after.at - before.at;
    const ours = after.node - before.node + after.postgres - before.postgres + after.own - before.own;
    return {
      perSecond: (done * 1000) / ms,
      nodeMs: (after.node - before.node) / done,
      postgresMs: (after.postgres - before.postgres) / done,
      walBytes: (after.wal - before.wal) / done,
      others: Math.max(0, (after.machine - before.machine - ours) / ms),
      busy: (after.machine - before.machine) / ms,
    };
  }

  /** Plain sockets, so that the load costs less than the server. */
  async function createAll(nodes: readonly ServeProcess[], least: number): Promise<number> {
    let created = 0;
    const body = JSON.stringify({ prompt: "Hello." });
    await Promise.all(
      Array.from({ length: clients }, async (_, n) => {
        const socket = connect(nodes[n % nodes.length]?.port ?? 0, "127.0.0.1").setNoDelay(true);
        await once(socket, "connect");
        for (; created < least; created += 1) {
          const project = projectIds[(n + created) % projectIds.length];
          socket.write(
            `POST /v2/agent/${project}/job HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
          );
          const [answer] = (await once(socket, "data")) as [Buffer];
          if (!answer.toString("latin1").startsWith("HTTP/1.1 201")) throw new Error(answer.toString());
        }
        socket.destroy();
      }),
    );
    return created;
  }

  async function enqueue(count: number): Promise<void> {
    const prompt = 'Replace "API token" with "access key".';
    for (let n = 0; n < count; n += 1) await seedJob(database.pool, projectIds[n % projectIds.length] ?? "", prompt);
    await database.pool.query("select pg_notify('emend_job_due', '')");
  }
} finally {
  await database.close();
  await rm(dir, { recursive: true, force: true });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function install(): Promise<{ projectIds: string[]; key: string }> {
  await mkdir(join(dir, "docs"));
  await writeFile(join(dir, "docs", "index.md"), "# Docs\n\nAn API token opens the door.\n");
  const admin = await openAdmin(loadConfig(env));
  try {
    const settings = { createsPerHourMax: 1_000_000, lanes: 8 };
    const projectIds: string[] = [];
    for (let n = 0; n < projects; n += 1) {
      const input = { name: `Docs ${n}`, forge: "local", repo: join(dir, "docs"), settings } as const;
      projectIds.push((await admin.addProject(input)).id);
    }
    const { key } = await admin.createKey({ projectIds, name: "bench", scope: "write" });
    return { projectIds, key };
  } finally {
    await admin.close();
  }
}

async function walBytes(): Promise<number> {
  const { rows } = await database.pool.query<{ bytes: string }>("select pg_current_wal_lsn() - '0/0' as bytes");
  return Number(rows[0]?.bytes);
}

/**
 * A job without turns, and one stored turn of an agent: from jobs of few and of many turns, one after the other, without
 * model, git and forge.
 */
async function measureTurns(
  projectIds: readonly string[],
  postgres: number,
): Promise<Pick<ScaleFigures, "step" | "bareJob">> {
  await createFarEnds(database.pool);
  const worker = await spawnWorker({ databaseUrl: database.url, name: "steps", options: { concurrency: 1 } });
  const [jobs, few, many] = [32, 1, 21];
  try {
    const look = async () => ({
      elapsedMs: performance.now(),
      nodeMs: processorMs(worker.child.pid ?? 0),
      postgresMs: processorMs(postgres),
      walBytes: await walBytes(),
    });
    const costOf = async (steps: number) => {
      for (let n = 0; n < jobs; n += 1)
        await seedJob(database.pool, projectIds[n % projectIds.length] ?? "", JSON.stringify({ steps }));
      const before = await look();
      await database.pool.query("select pg_notify('emend_job_due', '')");
      await untilAllEnded(database.pool);
      const after = await look();
      const each = (what: keyof typeof before) => (after[what] - before[what]) / jobs;
      return {
        nodeMs: each("nodeMs"),
        postgresMs: each("postgresMs"),
        walBytes: each("walBytes"),
        ms: each("elapsedMs"),
      };
    };
    await costOf(many);
    const [one, other] = [await costOf(few), await costOf(many)];
    const ofStep = (what: keyof typeof one) => Math.max(0, (other[what] - one[what]) / (many - few));
    const ofRest = (what: keyof typeof one) => Math.max(0, one[what] - few * ofStep(what));
    const costs = (of: typeof ofStep) => ({
      nodeMs: of("nodeMs"),
      postgresMs: of("postgresMs"),
      walBytes: of("walBytes"),
      waitMs: Math.max(0, of("ms") - of("nodeMs") - of("postgresMs")),
    });
    return { step: costs(ofStep), bareJob: costs(ofRest) };
  } finally {
    await worker.kill();
  }
}
