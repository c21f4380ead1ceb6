import { once } from "node:events";
import { connect } from "node:net";
import { startApi } from "@emend/testkit/api.ts";
import { openEventSource } from "@emend/testkit/event-source.ts";
import { connectProgram } from "@emend/testkit/oauth-program.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, describe, expect, test, vi } from "vitest";
import { revokeKey } from "../../accounts/keys/api-keys.ts";
import { endRun, setPhase } from "../../jobs/run/end-run.ts";

const heldMax = 10;
const api = await startApi({
  streams: { heartbeatMs: 60, stallMsMax: 300, seats: { perHolderMax: heldMax, allMax: 1000 } },
});
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project, { scope: "read" });
const token = "6f1c1f0e-0000-4000-8000-000000000002";

async function runningJob(): Promise<string> {
  const id = await seedJob(api.pool, project.id);
  await alterJob(api.pool, id, `lease = '${token}', lease_until = clock_timestamp() + interval '1 minute'`);
  return id;
}
const lease = (jobId: string) => ({ jobId, token });
const end = (id: string) => endRun(api.pool, lease(id), { kind: "completed", summary: "Done." });
const path = (id: string) => `/v2/agent/${project.id}/job/${id}/events`;
function follow(id: string, headers: Record<string, string> = {}, withKey = key) {
  return openEventSource(`${api.url}${path(id)}`, { authorization: `Bearer ${withKey}`, ...headers });
}
/** The next event that is not a heartbeat. */
async function nextEvent(source: Awaited<ReturnType<typeof follow>>) {
  for (;;) {
    const event = await source.next();
    if (event !== null) return event;
  }
}

describe("200", () => {
  test("first all that happened, then each event as it happens, until the job is final", async () => {
    const id = await runningJob();
    const source = await follow(id);
    expect(source.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
    });
    expect(await nextEvent(source)).toMatchObject({ id: "1", event: "job.created", data: { seq: 1 } });
    expect(source.retryMs()).toBe(1000);
    await setPhase(api.pool, lease(id), "working");
    expect(await nextEvent(source)).toMatchObject({ id: "2", event: "phase", data: { data: { phase: "working" } } });
    await end(id);
    expect((await source.rest()).map(({ id: seq, event }) => [seq, event])).toEqual([["3", "completed"]]);
  });

  test("after Last-Event-ID nothing is missed and nothing repeated, however often the client connects again", async () => {
    const id = await runningJob();
    await api.pool.query(
      `insert into job_events (job_id, seq, kind, data) select $1, n, 'step', '{}' from generate_series(2, 350) n`,
      [id],
    );
    await alterJob(api.pool, id, "event_seq = 350");
    await end(id);
    const seen: number[] = [];
    for (let last = 0; last < 351; ) {
      const source = await follow(id, last === 0 ? {} : { "last-event-id": String(last) });
      for (let count = 0; count < 120; count += 1) {
        const event = await source.next();
        if (!event) break;
        seen.push(event.data.seq);
        last = event.data.seq;
      }
      source.close();
    }
    expect(seen).toEqual(Array.from({ length: 351 }, (_, index) => index + 1));
  });

  test("a silent job is heard to be alive", async () => {
    const source = await follow(await runningJob(), { "last-event-id": "1" });
    expect([await source.next(), await source.next()]).toEqual([null, null]);
    source.close();
  });

  test("an event of 10 MB is sent in its usual form, without its long fields", async () => {
    const id = await runningJob();
    await api.pool.query(
      `insert into job_events (job_id, seq, kind, data) values ($1, 2, 'step', jsonb_build_object(
         'number', 3, 'model', 'm', 'text', repeat('x', 10000000), 'tools', jsonb_build_array(repeat('x', 100000))))`,
      [id],
    );
    await alterJob(api.pool, id, "event_seq = 2");
    await end(id);
    const events = await (await follow(id)).rest();
    expect(events.map(({ data }) => data.data)).toEqual([
      {},
      { number: 3, model: "m", text: "", tools: [], truncated: true },
      {},
    ]);
  });

  test("to HEAD the headers alone", async () => {
    const answer = await api.send(path(await runningJob()), { method: "HEAD", key });
    expect(answer.status).toBe(200);
  });
});

describe("a stream ends", () => {
  test("when its key is revoked", async () => {
    const revoked = await api.addKey(project);
    const source = await follow(await runningJob(), {}, revoked);
    await source.next();
    const { rows } = await api.pool.query("select id from admin_keys where scope = 'write'");
    await revokeKey(api.pool, rows[0].id);
    expect(await source.rest()).toEqual([]);
  });

  test("when the person who connected its program is removed", async () => {
    await api.pool.query(
      "insert into users (id, email, name, role) values ('usr_bo', 'bo@example.com', 'Bo', 'owner')",
    );
    const source = await follow(await runningJob(), {}, await connectProgram(api.pool, project.id, "usr_bo"));
    await source.next();
    await api.pool.query("delete from users where id = 'usr_bo'");
    expect(await source.rest()).toEqual([]);
  });

  test("for a client that never reads, and no more is read for it than fits the connection", async () => {
    const id = await runningJob();
    await api.pool.query(
      `insert into job_events (job_id, seq, kind, data)
       select $1, n, 'step', jsonb_build_object('text', repeat('x', 60000)) from generate_series(2, 500) n`,
      [id],
    );
    await alterJob(api.pool, id, "event_seq = 500");
    const queries = vi.spyOn(api.pool, "query");
    const request = once(api.app.server, "request");
    const socket = connect(Number(new URL(api.url).port), "127.0.0.1");
    socket.pause();
    socket.write(`GET ${path(id)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`);
    const [, response] = await request;
    await once(response, "close");
    const read = queries.mock.calls.filter(([query]) => (query as { name?: string }).name === "read-event-page");
    expect(read.length).toBeLessThan(5); // of 7 that would hold all of them
    queries.mockRestore();
    socket.destroy();
  });

  test("when the node stops, so that the client goes to another", async () => {
    const node = await startApi();
    const nodeProject = await node.addProject();
    const id = await seedJob(node.pool, nodeProject.id);
    const nodeKey = await node.addKey(nodeProject);
    const source = await openEventSource(`${node.url}/v2/agent/${nodeProject.id}/job/${id}/events`, {
      authorization: `Bearer ${nodeKey}`,
    });
    await source.next();
    await node.close();
    expect(await source.rest()).toEqual([]);
  });
});

test("204 for a final job whose last event was seen: there is nothing to connect for again", async () => {
  const id = await runningJob();
  await end(id);
  for (const last of ["2", "3", "999999999"]) {
    expect((await api.send(path(id), { key, headers: { "last-event-id": last } })).status).toBe(204);
  }
});

describe("a key at its limit of open streams", () => {
  test("429 for one stream more, until another ends; other keys are not hindered", async () => {
    const id = await runningJob();
    const busy = await api.addKey(project, { scope: "read" });
    const open = await Promise.all(Array.from({ length: heldMax }, () => follow(id, {}, busy)));
    expect(await api.send(path(id), { key: busy })).toMatchObject({
      status: 429,
      headers: { "emend-error": "rate_limited", "retry-after": "10" },
      json: { error: expect.stringContaining("Too many open event streams") },
    });
    (await follow(id)).close();
    open.pop()?.close();
    await expect.poll(async () => (await api.send(path(id), { method: "HEAD", key: busy })).status).toBe(200);
    for (const source of open) source.close();
  });

  test("is answered at once instead of having its wait granted", async () => {
    const id = await runningJob();
    const waits = Array.from({ length: heldMax + 1 }, () =>
      api.send(`/v2/agent/${project.id}/job/${id}`, { key, headers: { prefer: "wait=30" } }),
    );
    expect((await Promise.race(waits)).headers).not.toHaveProperty("preference-applied");
    await end(id);
    const granted = (await Promise.all(waits)).filter(({ headers }) => headers["preference-applied"] === "wait=30");
    expect(granted).toHaveLength(heldMax);
  });
});

test.each(["x", "-1", "1.5", "1e3", "9999999999", "1, 2"])("400 for Last-Event-ID: %s", async (last) => {
  const answer = await api.send(path(await runningJob()), { key, headers: { "last-event-id": last } });
  expect(answer.status).toBe(400);
});

test("404 for an unknown job and for one of another project", async () => {
  const other = await api.addProject();
  for (const id of [await seedJob(api.pool, other.id), "job_none", "%00"]) {
    expect((await api.send(path(id), { key })).status).toBe(404);
  }
});
