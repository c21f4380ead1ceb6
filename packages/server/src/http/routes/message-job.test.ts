import { startApi } from "@emend/testkit/api.ts";
import { alterJob, readEvents, readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, describe, expect, test } from "vitest";
import { channels } from "../../db/listener.ts";
import { messageJob, messageQuota } from "../../jobs/message-job.ts";

/** The forge's answer. Null: unknown. */
const onForge = new Map<number, "open" | "merged" | "closed">();
const api = await startApi({ pullRequestState: async (_project, number) => onForge.get(number) ?? null });
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project);
const ended = "ended_at = now(), status = 'completed'";
const archived = "status = 'archived', ended_at = now(), archived_at = now()";
const pullRequest = (number: number, state = "open") =>
  `pushed = true, pull_request = '{"url": "https://forge.test/${number}", "number": ${number}, "state": "${state}", "draft": false}'`;

async function jobWith(assignments: string): Promise<string> {
  const id = await seedJob(api.pool, project.id);
  await alterJob(api.pool, id, assignments);
  return id;
}
const message = (id: string, body: unknown = { prompt: "Say it shorter." }, more = {}) =>
  api.send(`/v2/agent/${project.id}/job/${id}/message`, { method: "POST", key, body, ...more });

describe("200", () => {
  test("a completed job is active again, on its branch, with no link until it ends", async () => {
    onForge.set(7, "open");
    const context = `context = '[{"name": "api"}]', findings = '{"kind": "passed"}', commit_id = 'c', tree_id = 't'`;
    const id = await jobWith(`${ended}, ${pullRequest(7)}, pr_link = 'https://forge.test/7', ${context}`);
    const told = Promise.withResolvers<string>();
    const stop = api.listener.on(channels.jobDue, told.resolve);
    const answer = await message(id);
    expect(answer).toMatchObject({
      status: 200,
      json: { id, status: "active", prLink: null, source: { ref: `emend/${id}` } },
      headers: { "ratelimit-policy": expect.stringContaining("100") },
    });
    expect(await told.promise).toBe(project.id);
    stop();
    expect(await readJob(api.pool, id)).toMatchObject({
      continues_branch: true,
      base_commit: null,
      commit_id: null,
      // Of the pull request, until there are newer ones. A refusal is not kept.
      findings: { kind: "passed" },
      context: [],
    });
    const denied = await jobWith(`${ended}, findings = '{"kind": "denied"}'`);
    await message(denied);
    expect((await readJob(api.pool, denied)).findings).toBeNull();
    expect((await readEvents(api.pool, id)).map(({ kind }) => kind)).toEqual(["job.created", "job.message"]);
    const { rows } = await api.pool.query("select number, prompt, created_by from job_messages where job_id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ number: 1, prompt: "Say it shorter.", created_by: expect.stringMatching(/^key\//) }]);
    const run = await api.send(`/v2/agent/${project.id}/job/${id}/run`, { key });
    expect(run.json).toMatchObject({ pullRequest: { url: "https://forge.test/7" } });
  });

  test("after a failed publication the next round tells what the failed one had done", async () => {
    const work = "commit_id = 'c', tree_id = 't', title = 'Rename the token', summary = 'Renamed it on 3 pages.'";
    const failure = "failure_code = 'forge_unavailable', failure_message = 'GitHub did not answer.'";
    for (const [pushed, branchCommit] of [
      [false, null],
      [true, "c"],
    ] as const) {
      const id = await jobWith(`status = 'failed', ended_at = now(), pushed = ${pushed}, ${work}, ${failure}`);
      await message(id);
      expect(await readJob(api.pool, id)).toMatchObject({
        continues_branch: pushed,
        branch_commit: branchCommit,
        rounds: [{ message: 0, title: "Rename the token", summary: "Renamed it on 3 pages.", failure: null }],
      });
    }
  });

  test("a request that may still open the pull request is remembered in the next round", async () => {
    const id = await jobWith(`${ended}, pushed = true, create_until = clock_timestamp() + interval '5 minutes'`);
    await message(id);
    expect((await readJob(api.pool, id)).create_until).toBeInstanceOf(Date);
  });

  test("a failed job takes one too, and keeps edits that were never pushed", async () => {
    const id = await jobWith("status = 'failed', ended_at = now(), base_commit = 'b', base_branch = 'main'");
    await api.pool.query("insert into overlay values ($1, 'a.md', '100644', '\\x00', false)", [id]);
    expect((await message(id)).json).toMatchObject({ status: "active" });
    expect(await readJob(api.pool, id)).toMatchObject({ continues_branch: false, base_commit: "b" });
    const { rowCount } = await api.pool.query("select 1 from overlay where job_id = $1", [id]);
    expect(rowCount).toBe(1);
  });

  test("of many at once, one starts the next round and the others are said while it works", async () => {
    const id = await jobWith(ended);
    const answers = await Promise.all(Array.from({ length: 8 }, () => message(id)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const { rowCount } = await api.pool.query("select 1 from job_messages where job_id = $1", [id]);
    expect([rowCount, (await saidTo(id)).length]).toEqual([1, 7]);
  });

  test("a job that works keeps it for its next step, and says that it was said", async () => {
    const id = await jobWith("phase = 'working', base_commit = 'b', lease = gen_random_uuid(), lease_until = now()");
    const before = await readJob(api.pool, id);
    expect(await message(id)).toMatchObject({ status: 200, json: { id, status: "active", prLink: null } });
    const { phase, lease, base_commit } = await readJob(api.pool, id);
    expect({ phase, lease, base_commit }).toEqual({ phase: "working", lease: before.lease, base_commit: "b" });
    expect(await saidTo(id)).toEqual([{ prompt: "Say it shorter.", created_by: expect.stringMatching(/^key\//) }]);
    const { rows } = await api.pool.query("select kind, data from job_events where job_id = $1 order by seq desc", [
      id,
    ]);
    expect(rows[0]).toEqual({ kind: "job.interjection", data: { text: "Say it shorter." } });
  });
});

async function saidTo(id: string) {
  const { rows } = await api.pool.query(
    "select prompt, created_by from job_interjections where job_id = $1 and taken_at is null",
    [id],
  );
  return rows;
}

describe("Idempotency-Key", () => {
  const rounds = async (id: string) =>
    (await api.pool.query("select 1 from job_messages where job_id = $1", [id])).rowCount;
  const once = (id: string, idempotencyKey: string, prompt = "Say it shorter.") =>
    message(id, { prompt }, { headers: { "idempotency-key": idempotencyKey } });

  test("the same key and body is one message, also after the job has ended again", async () => {
    const id = await jobWith(ended);
    const first = await once(id, "m-1");
    expect(first).toMatchObject({ status: 200, json: { id, status: "active" } });
    expect(first.headers["idempotent-replayed"]).toBeUndefined();
    for (const state of ["phase = 'working'", ended]) {
      await alterJob(api.pool, id, state);
      const again = await once(id, "m-1");
      expect(again).toMatchObject({ status: 200, text: first.text, headers: { "idempotent-replayed": "true" } });
      expect(again.headers["x-ratelimit-remaining"]).toBe(first.headers["x-ratelimit-remaining"]);
    }
    expect(await rounds(id)).toBe(1);
    expect((await once(id, "m-2")).headers["idempotent-replayed"]).toBeUndefined();
    expect(await rounds(id)).toBe(2);
  });

  test("of many at once with one key, one is taken and all get its answer", async () => {
    const id = await jobWith(ended);
    const answers = await Promise.all(Array.from({ length: 8 }, () => once(id, "m-race")));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers["idempotent-replayed"] === "true")).toHaveLength(7);
    expect(await rounds(id)).toBe(1);
  });

  test("a message that is overtaken by another with its key gets that one's answer", async () => {
    const id = await jobWith(ended);
    let isOvertaken = false;
    const query = async (...input: Parameters<typeof api.pool.query>) => {
      const answer = await api.pool.query(...input);
      if (!isOvertaken) {
        isOvertaken = true;
        expect((await once(id, "m-late")).status).toBe(200);
      }
      return answer;
    };
    const pool = { query, connect: () => api.pool.connect(), options: {} } as never;
    const deps = { pool, reader: { forget() {} } as never, pullRequestState: async () => null };
    const late = { id, projectId: project.id, prompt: "Say it shorter.", createdBy: "test", idempotencyKey: "m-late" };
    expect((await messageJob(deps, messageQuota, late)).kind).toBe("replayed");
    expect([await rounds(id), (await saidTo(id)).length]).toEqual([1, 0]);
  });

  test("another body, another job or a create with the same key: 409, and nothing is started", async () => {
    const [id, other] = [await jobWith(ended), await jobWith(ended)];
    await once(id, "m-3");
    await alterJob(api.pool, id, ended);
    const create = { method: "POST", key, body: { prompt: "Say it shorter." }, headers: { "idempotency-key": "m-3" } };
    const answers = [
      await once(id, "m-3", "Say it longer."),
      await once(other, "m-3"),
      await api.send(`/v2/agent/${project.id}/job`, create),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 409, json: { error: expect.stringMatching(/different body/) } });
    }
    expect([await rounds(id), await rounds(other)]).toEqual([1, 0]);
  });

  test("a refusal is not stored, an empty key is refused, and after 24 hours a key is new", async () => {
    const id = await jobWith(archived);
    expect((await once(id, "m-4")).status).toBe(409);
    await alterJob(api.pool, id, ended);
    expect((await once(id, "m-4")).status).toBe(200);
    expect((await once(id, "")).status).toBe(400);
    await api.pool.query("update idempotency_keys set created_at = created_at - interval '25 hours' where key = 'm-4'");
    await alterJob(api.pool, id, ended);
    expect((await once(id, "m-4", "Another one.")).status).toBe(200);
    expect(await rounds(id)).toBe(2);
  });
});

describe("409", () => {
  test.each([
    ["archived", archived, /archived/],
    ["known to be merged", `${ended}, ${pullRequest(3, "merged")}`, /merged; create a new job/],
    ["known to be closed", `${ended}, ${pullRequest(4, "closed")}`, /closed; create a new job/],
  ])("while it is %s; nothing changes", async (_, state, words) => {
    const id = await jobWith(state);
    const before = await readJob(api.pool, id);
    const answer = await message(id);
    expect(answer).toMatchObject({ status: 409, json: { error: expect.stringMatching(words) } });
    expect(answer.headers["emend-error"]).toBe("conflict");
    expect(await readJob(api.pool, id)).toEqual(before);
  });

  test.each(["merged", "closed"] as const)("when the forge says that it was %s meanwhile", async (state) => {
    onForge.set(11, state);
    const id = await jobWith(`${ended}, ${pullRequest(11)}`);
    expect(await message(id)).toMatchObject({ status: 409, json: { error: expect.stringContaining(state) } });
    expect(await readJob(api.pool, id)).toMatchObject({ status: "completed" });
  });

  test("counts against no quota", async () => {
    const uses = () => api.pool.query("select count(*) from quota_uses where kind = 'message'");
    const before = (await uses()).rows[0];
    await message(await jobWith(archived));
    expect((await uses()).rows[0]).toEqual(before);
  });
});

test.each([
  ["no prompt", {}],
  ["an empty one", { prompt: "" }],
  ["a number", { prompt: 5 }],
  ["U+0000", { prompt: "a\0b" }],
  ["no object", []],
])("400 for %s", async (_, body) => {
  const id = await jobWith(ended);
  expect((await message(id, body)).status).toBe(400);
  expect(await readJob(api.pool, id)).toMatchObject({ status: "completed" });
});

test("401, 403 and 404 as everywhere", async () => {
  const id = await jobWith(ended);
  const other = await api.addProject();
  expect((await message(id, undefined, { key: null })).status).toBe(401);
  expect((await message(id, undefined, { key: await api.addKey(project, { scope: "read" }) })).status).toBe(403);
  expect((await message(id, undefined, { key: await api.addKey(other) })).status).toBe(404);
  expect((await message("job_unknown")).status).toBe(404);
});

test("429 after a hundred messages in an hour, which jobs that are created do not share", async () => {
  const busy = await api.addProject();
  const busyKey = await api.addKey(busy);
  const fill = (kind: string, count: number) =>
    api.pool.query(
      "insert into quota_uses (project_id, kind, used_at) select $1, $2, now() - interval '10 minutes' from generate_series(1, $3)",
      [busy.id, kind, count],
    );
  const send = async () => {
    const id = await seedJob(api.pool, busy.id);
    await alterJob(api.pool, id, ended);
    const path = `/v2/agent/${busy.id}/job/${id}/message`;
    return { id, answer: await api.send(path, { method: "POST", key: busyKey, body: { prompt: "More." } }) };
  };
  await fill("create", 100);
  await fill("message", 99);
  expect((await send()).answer.status).toBe(200);
  const { id, answer } = await send();
  expect(answer).toMatchObject({ status: 429, json: { error: expect.stringContaining("100 messages per hour") } });
  expect(Number(answer.headers["retry-after"])).toBeGreaterThan(2_900);
  expect(answer.headers["emend-error"]).toBe("rate_limited");
  expect(await readJob(api.pool, id)).toMatchObject({ status: "completed" });
});
