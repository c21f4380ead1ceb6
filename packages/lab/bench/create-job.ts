// POST job, durable, against a bare transaction of the same inserts through pg. Aim: 0.6 and more.
import { once } from "node:events";
import { connect } from "node:net";
import { createLogger } from "@emend/base/logger.ts";
import { spawnServing } from "@emend/testkit/spawn-process.ts";
import { createPool } from "../../server/src/db/pool.ts";
import { newId } from "../../server/src/lib/id.ts";
import { writeFigure } from "../../site/bench/results.ts";
import { seedProjects, startBenchDatabase } from "./database.ts";
import { compare } from "./measure.ts";

// Many projects, because of the quota: at the end each has used about all of it. Each side has its own projects, or
// ours would count the other's inserts. Both use the same clients and connections.
const clients = 32;
const connections = 10;
const roundMs = 1500;
const prompt = "Move guides/auth to security/authentication and fix the links.";
const database = await startBenchDatabase();
const pool = createPool({ url: database.url, connectionsMax: connections, log: createLogger({ level: "warn" }) });
try {
  const { projectIds, key } = await seedProjects(database.pool, 500);
  const bareProjectIds = (await seedProjects(database.pool, 500)).projectIds;
  const api = await spawnServing(new URL("../../testkit/src/api-process.ts", import.meta.url), [database.url]);
  const nextProject = inTurn(projectIds);
  const nextBareProject = inTurn(bareProjectIds);

  function inTurn(ids: readonly string[]): () => string {
    let next = 0;
    return () => ids[next++ % ids.length] ?? "";
  }

  async function rate(openClient: () => Promise<{ create(): Promise<void>; close(): void }>): Promise<number> {
    let created = 0;
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: clients }, async () => {
        const client = await openClient();
        for (; performance.now() - startedAt < roundMs; created += 1) await client.create();
        client.close();
      }),
    );
    return (created * 1000) / (performance.now() - startedAt);
  }

  async function httpClient() {
    const socket = connect(api.port, "127.0.0.1").setNoDelay(true);
    await once(socket, "connect");
    const body = JSON.stringify({ prompt });
    return {
      async create() {
        socket.write(
          `POST /v2/agent/${nextProject()}/job HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        );
        const [answer] = (await once(socket, "data")) as [Buffer];
        if (!answer.subarray(0, 12).equals(Buffer.from("HTTP/1.1 201"))) throw new Error(answer.toString());
      },
      close: () => socket.destroy(),
    };
  }

  async function bareClient() {
    return {
      async create() {
        const client = await pool.connect();
        const [id, projectId] = [newId("job"), nextBareProject()];
        await client.query("begin");
        await client.query({
          name: "use",
          text: "insert into quota_uses (project_id, kind, used_at) values ($1, 'create', clock_timestamp())",
          values: [projectId],
        });
        await client.query({
          name: "job",
          text: `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
                 values ($1, $2, $3, $4, $5, $6, $6, $7, 1)`,
          values: [id, projectId, prompt, "emend/rules", "https://github.test/acme/docs", `emend/${id}`, "bench"],
        });
        await client.query({
          name: "event",
          text: "insert into job_events (job_id, seq, kind, data) values ($1, 1, 'job.created', '{}')",
          values: [id],
        });
        await client.query("commit");
        client.release();
      },
      close: () => {},
    };
  }

  const figures = await compare(
    () => rate(httpClient),
    () => rate(bareClient),
    // The JIT compiler is busy for the first ten seconds; afterwards a request costs a fifth.
    { warmUps: 6, rounds: 9 },
  );
  console.log(
    `POST job: ${figures.ours.toFixed(0)}/s, bare transaction: ${figures.yardstick.toFixed(0)}/s, ratio ${figures.ratio.toFixed(2)} (aim 0.60)`,
  );
  await writeFigure("creating a job", "npm run bench -- http --write", {
    what: "creating a job: throughput against a bare transaction",
    figure: figures.ratio.toFixed(2),
    aim: "≥ 0.60",
  });
  await api.stop();
} finally {
  await pool.end();
  await database.close();
}
