import { useModelProject } from "@emend/testkit/model-project.ts";
import { waitForJob } from "@emend/testkit/worker-control.ts";
import { CreateTaskResultV2Schema, DetailedTaskV2Schema } from "@modelcontextprotocol/ext-tasks/core/v2";
import { expect, test } from "vitest";

// Jobs as tasks of the protocol's extension, with a whole server. The extension's own schemas judge what it answers.
const models = useModelProject();
const docs = { "setup.md": "# Setup\n\nIt takes TODO minutes.\n" };
const extensions = { "io.modelcontextprotocol/tasks": {} };
type Answer = { result?: Record<string, unknown>; error?: { code: number; message: string } };

async function start() {
  const made = await models.install(
    (turn, { messages }) => {
      if (turn === 0) return [["read_file", { path: "setup.md" }]];
      if (turn === 1) return [["ask", { question: "How many minutes does it take?", options: ["5", "10"] }]];
      const heard = /after your question:\D+(\d+)/.exec(JSON.stringify(messages))?.[1] ?? "some";
      if (turn === 2) return [["edit_file", { path: "setup.md", oldText: "TODO", newText: heard }]];
      return [["finish", { title: "Say how long it takes", summary: "Wrote the minutes." }]];
    },
    { docs, settings: { secondReader: false } },
  );
  const { server, key, installation } = made;
  /** As a client of 2026-07-28 sends it. */
  async function send(
    method: string,
    params: Record<string, unknown>,
    capabilities: object = { extensions, elicitation: { form: {} } },
  ): Promise<Answer> {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": capabilities,
    };
    const named = String(params.name ?? params.taskId);
    const answer = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": named,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }),
    });
    return (await answer.json()) as Answer;
  }
  const create = (capabilities?: object) => {
    const call = { name: "create_job", arguments: { prompt: "Say how long the setup takes." } };
    return send("tools/call", call, capabilities);
  };
  const untilAsked = (taskId: string) =>
    waitForJob(
      installation.database.pool,
      taskId.split(".")[1] ?? "",
      (job: { waiting_for: string; waiting_since: Date | null }) =>
        job.waiting_for === "answer" && job.waiting_since !== null,
    );
  return { ...made, send, create, untilAsked };
}

test("a job is a task: it asks its client's person, goes on with the answer, and ends with the tool's result", async () => {
  const { send, create, untilAsked, client } = await start();
  const { result: created } = await create();
  const { taskId, status } = CreateTaskResultV2Schema.parse(created);
  expect(status).toBe("working");
  await untilAsked(taskId);
  const { result: asking } = await send("tasks/get", { taskId });
  const task = DetailedTaskV2Schema.parse(asking);
  const [[name = "", request] = []] = Object.entries(task.status === "input_required" ? task.inputRequests : {});
  expect(request).toMatchObject({
    method: "elicitation/create",
    params: { message: "How many minutes does it take?" },
  });

  const accept = { action: "accept", content: { answer: "12" } };
  expect((await send("tasks/update", { taskId, inputResponses: { other: accept } })).result).toMatchObject({});
  expect((await send("tasks/get", { taskId })).result).toMatchObject({ status: "input_required" });
  await send("tasks/update", { taskId, inputResponses: { [name]: accept } });
  const id = taskId.split(".")[1] ?? "";
  await client.untilFinal(id);
  const over = DetailedTaskV2Schema.parse((await send("tasks/get", { taskId })).result);
  expect(over).toMatchObject({
    status: "completed",
    result: { structuredContent: { job: { id, status: "completed", prLink: expect.any(String) } } },
  });
  expect((await client.send(`/job/${id}/diff`)).text).toContain("It takes 12 minutes.");
});

test("who declines to answer has the job continue without one", async () => {
  const { send, create, untilAsked, client, far } = await start();
  const { taskId } = CreateTaskResultV2Schema.parse((await create()).result);
  await untilAsked(taskId);
  const { inputRequests } = (await send("tasks/get", { taskId })).result as { inputRequests: object };
  const [name = ""] = Object.keys(inputRequests);
  await send("tasks/update", { taskId, inputResponses: { [name]: { action: "decline" } } });
  expect(await client.untilFinal(taskId.split(".")[1] ?? "")).toMatchObject({ status: "completed" });
  expect(JSON.stringify(far.requests[2]?.messages)).toContain("I have no answer to your question.");
});

test("a task asks its client's person to approve a change, with three answers, and takes no other", async () => {
  const { send, create, client, installation } = await start();
  const { taskId } = CreateTaskResultV2Schema.parse((await create()).result);
  const id = taskId.split(".")[1] ?? "";
  const { pool } = installation.database;
  // The agent's own question is answered. What the review asks is put in its place.
  await waitForJob(pool, id, (job: { waiting_since: Date | null }) => job.waiting_since !== null);
  const construct = {
    id: "x",
    key: null,
    path: "a.md",
    line: 1,
    text: "<i>",
    kind: "element",
    reason: "New.",
    count: 1,
    around: null,
  };
  await pool.query(
    `insert into job_questions (job_id, question, answer_until, constructs) values ($1, 'Publish it?', now() + interval '1 hour', $2)`,
    [id, JSON.stringify([construct])],
  );
  await pool.query("update jobs set waiting_for = 'approval', waiting_words = 'Publish it?' where id = $1", [id]);
  const { inputRequests } = (await send("tasks/get", { taskId })).result as { inputRequests: Record<string, object> };
  const [[name = "", request] = []] = Object.entries(inputRequests);
  expect(request).toMatchObject({
    params: {
      message: "Publish it?",
      requestedSchema: { properties: { answer: { enum: ["Publish", "Publish and allow here", "Don't publish"] } } },
    },
  });
  const answer = (words: string) => ({ [name]: { action: "accept", content: { answer: words } } });
  await send("tasks/update", { taskId, inputResponses: answer("yes") });
  await send("tasks/update", { taskId, inputResponses: { [name]: { action: "decline" } } });
  expect((await send("tasks/get", { taskId })).result).toMatchObject({ status: "input_required" });
  await send("tasks/update", { taskId, inputResponses: answer("Don't publish") });
  expect((await client.send(`/job/${id}`)).json).toMatchObject({ status: "failed" });
  expect((await client.run(id)).declinedBy).toMatch(/^key\//);
});

test("a task is cancelled; a client without tasks or forms gets neither; another's task is unknown", async () => {
  const { send, create, untilAsked, client } = await start();
  const plain = (await create({})).result;
  expect(plain).toMatchObject({ resultType: "complete", structuredContent: { job: { status: "active" } } });
  expect(plain?.taskId).toBeUndefined();
  const { taskId } = CreateTaskResultV2Schema.parse((await create({ extensions })).result);
  await untilAsked(taskId);
  expect((await send("tasks/get", { taskId }, { extensions })).result).toMatchObject({
    status: "working",
    statusMessage: expect.stringContaining("follow_up"),
  });
  await send("tasks/cancel", { taskId });
  await client.untilFinal(taskId.split(".")[1] ?? "");
  expect(DetailedTaskV2Schema.parse((await send("tasks/get", { taskId })).result).status).toBe("cancelled");
  for (const unknown of ["prj_other.job_1", taskId.replace("job_", "job_0"), "x"]) {
    expect((await send("tasks/get", { taskId: unknown })).error).toMatchObject({ code: -32602 });
    expect((await send("tasks/cancel", { taskId: unknown })).error).toMatchObject({ code: -32602 });
  }
});
