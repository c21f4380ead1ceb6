// GET job, authenticated, live state, against bare node:http that sends the same bytes. Aim: 0.8 and more.

import { spawnServing } from "@emend/testkit/spawn-process.ts";
import { writeFigure } from "../../site/bench/results.ts";
import { seedProjects, startBenchDatabase } from "./database.ts";
import { compare, requestRate } from "./measure.ts";

const load = { connections: 32, ms: 500 };
const database = await startBenchDatabase();
try {
  const { projectIds, key } = await seedProjects(database.pool, 1);
  const api = await spawnServing(new URL("../../testkit/src/api-process.ts", import.meta.url), [database.url]);
  const jobsPath = `/v2/agent/${projectIds[0]}/job`;
  const authorization = `Bearer ${key}`;
  const created = await fetch(`http://127.0.0.1:${api.port}${jobsPath}`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ prompt: "Fix the links." }),
  });
  const path = `${jobsPath}/${((await created.json()) as { id: string }).id}`;
  const answer = await fetch(`http://127.0.0.1:${api.port}${path}`, { headers: { authorization } });
  const body = await answer.text();
  const ownHeaders = ["content-type", "cache-control", "etag", "retry-after", "content-length", "x-request-id"];
  const headers = Object.fromEntries(ownHeaders.map((name) => [name, answer.headers.get(name) ?? ""]));
  const bare = await spawnServing(new URL("./bare-http.ts", import.meta.url), [JSON.stringify({ headers, body })]);

  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: ${authorization}\r\n\r\n`;
  const figures = await compare(
    () => requestRate(api.port, request, load),
    () => requestRate(bare.port, request, load),
    { warmUps: 10, rounds: 20 },
  );
  console.log(
    `GET job: ${figures.ours.toFixed(0)}/s, bare node:http: ${figures.yardstick.toFixed(0)}/s, ratio ${figures.ratio.toFixed(2)} (aim 0.80)`,
  );
  await writeFigure("reading a job", "npm run bench -- http --write", {
    what: "reading a job: throughput against bare `node:http`",
    figure: figures.ratio.toFixed(2),
    aim: "≥ 0.80",
  });
  await Promise.all([api.stop(), bare.stop()]);
} finally {
  await database.close();
}
