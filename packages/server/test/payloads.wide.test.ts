import { randomUUID } from "node:crypto";
import { openEventSource } from "@emend/testkit/event-source.ts";
import { createOpenApiJudge, type OpenApiDocument } from "@emend/testkit/openapi-judge.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@emend/testkit/webhook-receiver.ts";
import { clientOf, createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Server } from "../src/compose/compose.ts";
import { waitForAnswer } from "../src/jobs/run/wait-for-answer.ts";

// Validates a server's responses about real jobs against the OpenAPI document that it serves: no field missing, none extra.
let installation: Installation;
let server: Server;
let receiver: WebhookReceiver;
let projectId: string;
let key: string;
let judge: ReturnType<typeof createOpenApiJudge>;
let mistakesOf: (schema: string, value: unknown) => string[];
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  installation = await createInstallation({ EMEND_ALLOW_PRIVATE_WEBHOOKS: "true" });
  server = await installation.start();
  const repo = await installation.makeDocs({
    "index.md": "# Docs\n\nSee [the guide](guides/Start.md) and [nothing](guides/none.md).\n",
    "guides/start.md": "# Start\n\nUse your API token.\n",
  });
  projectId = (await server.admin.addProject({ name: "Docs", forge: "local", repo })).id;
  key = (await server.admin.createKey({ name: "test", projectIds: [projectId], scope: "write" })).key;
  await server.admin.carryOut("webhooks.add", { projectId, url: receiver.url });
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApiDocument;
  judge = createOpenApiJudge(document);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ ...document, $id: "openapi" });
  mistakesOf = (name, value) => {
    const validate = ajv.getSchema(`openapi#/components/schemas/${name}`);
    if (!validate) return [`there is no schema ${name}`];
    return validate(value) ? [] : [`${name}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`];
  };
});
afterAll(async () => {
  await installation.remove();
  receiver.close();
});

const base = () => `/v2/agent/${projectId}`;
async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}${base()}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const seen = {
    method,
    path: `${base()}${path}`,
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
  expect(judge(seen)).toEqual([]);
  return JSON.parse(seen.body);
}
async function make(body: { prompt: string; preview?: boolean }): Promise<string> {
  const { id } = await send("POST", "/job", body);
  await clientOf(server, projectId, key).untilFinal(id);
  return id;
}
const settle = (number: number, state: string) =>
  installation.database.pool.query("update local_pull_requests set state = $2 where number = $1", [number, state]);

/** As somebody who edits the branch does. */
const hold = (id: string, until: string) =>
  installation.database.pool.query(`update jobs set editing_until = ${until}, run_after = ${until} where id = $1`, [
    id,
  ]);

test("every answer, event and message of real jobs is as the document says", async () => {
  const fixed = await make({ prompt: "Fix broken links." });
  const renamed = await make({ prompt: 'Replace "API token" with "access key".' });
  const refused = await make({ prompt: "Make it nice." });
  const unchanged = await make({ prompt: 'Replace "absent words" with "others".' });
  // Nobody takes the job between the two messages, so that the second one is said to a job that works.
  await hold(renamed, "now() + interval '1 hour'");
  await send("POST", `/job/${renamed}/message`, { prompt: 'Replace "Start" with "Begin".' });
  const lease = { jobId: renamed, token: randomUUID() };
  await installation.database.pool.query("update jobs set lease = $2 where id = $1", [renamed, lease.token]);
  await waitForAnswer(
    installation.database.pool,
    lease,
    { question: "Which word?", options: ["Take"], step: 1 },
    3_600_000,
  );
  expect((await send("GET", `/job/${renamed}/run`)).waiting).toMatchObject({ for: "answer", options: ["Take"] });
  await send("POST", `/job/${renamed}/message`, { prompt: 'Replace "Use" with "Take".' });
  await hold(renamed, "now()");
  await clientOf(server, projectId, key).untilFinal(renamed);
  await settle(1, "merged");
  await settle(2, "closed");
  await send("POST", `/job/${unchanged}/archive`);
  const approved = await make({ prompt: "Make it nice." });
  await hold(approved, "now() + interval '1 hour'");
  const other = { jobId: approved, token: randomUUID() };
  await installation.database.pool.query(
    "update jobs set lease = $2, status = 'active', failure_code = null, ended_at = null where id = $1",
    [approved, other.token],
  );
  const construct = {
    path: "a.md",
    line: 2,
    text: "<iframe>",
    kind: "element",
    reason: "New.",
    count: 1,
    id: "x",
    key: null,
  };
  const around = { line: 1, lines: ["One", "<iframe>"] };
  const asked = { question: "Publish?", options: [], step: null, constructs: [{ ...construct, around }] };
  await waitForAnswer(installation.database.pool, other, asked, 3_600_000);
  expect((await send("GET", `/job/${approved}/run`)).waiting).toMatchObject({
    for: "approval",
    constructs: [{ around }],
  });
  await send("POST", `/job/${approved}/approve`, { remember: true });
  await send("POST", `/job/${approved}/cancel`);
  const ids = [fixed, renamed, refused, unchanged, approved];

  await send("GET", "/jobs?limit=2");
  const runs = [];
  for (const id of ids) {
    await send("GET", `/job/${id}`);
    await send("GET", `/job/${id}/diff`);
    runs.push(await send("GET", `/job/${id}/run`));
  }
  // Otherwise the test would prove little: there must be findings with details, and pull requests.
  const stored = await installation.database.pool.query("select findings from jobs where id = $1", [fixed]);
  expect(stored.rows[0].findings.fixed[0]).toHaveProperty("fix");
  expect(runs[0].findings.fixedCount).toBeGreaterThan(0);
  expect(runs[1].pullRequest).toMatchObject({ state: "closed" });

  const kinds = new Set<string>();
  for (const id of ids) {
    const source = await openEventSource(`${server.url}${base()}/job/${id}/events`, { authorization: `Bearer ${key}` });
    for (const { data: event } of await source.rest()) {
      kinds.add(event.kind);
      expect(mistakesOf("JobEvent", event)).toEqual([]);
      expect(mistakesOf("JobEventData", { ...Object.fromEntries(allKinds), [event.kind]: event.data })).toEqual([]);
    }
  }
  expect([...kinds].toSorted()).toEqual(allKinds.map(([kind]) => kind).toSorted());

  const messages = [];
  // The end of each job, of both follow-ups, the archive, both questions, the cancel, and both pull requests.
  for (let number = 1; number <= 13; number += 1) messages.push(JSON.parse((await receiver.message(number)).body));
  expect(messages.flatMap((message) => mistakesOf("WebhookMessage", message))).toEqual([]);
  expect([...new Set(messages.map(({ type }) => type))].toSorted()).toEqual([
    "job.archived",
    "job.completed",
    "job.failed",
    "job.question",
    "job.waiting",
    "pull_request.closed",
    "pull_request.merged",
  ]);
});

/** The minimal valid value of each type, so that a test can put it in place and validate it. */
const phase = { phase: "queued" };
const pull = { number: 1, url: "https://x.test/1", state: "open", draft: false };
const allKinds: [string, unknown][] = [
  ["job.created", {}],
  ["job.message", { number: 1 }],
  ["job.interjection", { text: "" }],
  ["job.question", { question: "", options: [], answerUntil: "2026-03-02T09:15:42.120Z" }],
  [
    "job.waiting",
    { for: "approval", message: "", constructs: [], constructCount: 1, until: "2026-03-02T09:15:42.120Z" },
  ],
  ["job.approved", { by: "key/k", remember: false }],
  ["run.started", { run: 1, ...phase }],
  ["phase", phase],
  ["step", { number: 1, model: "m", text: "", tools: [] }],
  ["findings", { verdict: "passed" }],
  ["pull_request", pull],
  ["completed", {}],
  ["failed", {}],
  ["archived", {}],
];
