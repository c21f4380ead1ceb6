import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { afterAll, afterEach, expect, test } from "vitest";
import { channels, type Listener, startListener } from "./listener.ts";

const log = createLogger({ level: "silent" });
const database = await createTestDatabase();
afterAll(() => database.drop());

const opened: Array<{ close(): Promise<void> }> = [];
afterEach(async () => {
  for (const closable of opened.splice(0).reverse()) await closable.close();
});

async function openProxied(): Promise<{ proxy: DatabaseProxy; listener: Listener }> {
  const proxy = await startDatabaseProxy(database.url);
  opened.push(proxy);
  const listener = await startListener({ url: database.url, listenUrl: proxy.url, log });
  opened.push(listener);
  return { proxy, listener };
}

function nextNotice(listener: Listener): Promise<string> {
  return new Promise((resolve) => {
    const off = listener.on(channels.jobChanged, (payload) => {
      off();
      resolve(payload);
    });
  });
}

function nextReset(listener: Listener): Promise<void> {
  return new Promise((resolve) => {
    const off = listener.onReset(() => {
      off();
      resolve();
    });
  });
}

async function notify(payload: string): Promise<void> {
  await database.pool.query("select pg_notify($1, $2)", [channels.jobChanged, payload]);
}

test("is fresh and delivers notices from the start", async () => {
  const { listener } = await openProxied();
  expect(listener.isFresh()).toBe(true);
  const notice = nextNotice(listener);
  await notify("job_1");
  expect(await notice).toBe("job_1");
});

test("a handler that was taken off, or that throws, does not disturb the others", async () => {
  const { listener } = await openProxied();
  const off = listener.on(channels.jobChanged, () => expect.fail("was taken off"));
  off();
  listener.on(channels.jobChanged, () => {
    throw new Error("a fault in a handler");
  });
  const notice = nextNotice(listener);
  await notify("job_2");
  expect(await notice).toBe("job_2");
});

test("stays fresh over round trips without connecting again", async () => {
  const { listener, proxy } = await openProxied();
  const secondsOfTrips = `select extract(epoch from query_start - backend_start)::float8 as seconds from pg_stat_activity
     where application_name = 'emend notifier' and query like '%pg_notify%' and datname = current_database()`;
  await expect.poll(async () => (await database.pool.query(secondsOfTrips)).rows[0]?.seconds).toBeGreaterThan(1.2);
  expect(listener.isFresh()).toBe(true);
  expect(proxy.accepted()).toBe(1);
});

test("a lost connection is opened again, and caches are cleared before they count as fresh", async () => {
  const { listener, proxy } = await openProxied();
  let wasFreshAtReset: boolean | undefined;
  listener.onReset(() => {
    wasFreshAtReset = listener.isFresh();
  });
  const reset = nextReset(listener);
  proxy.cut();
  await reset;
  expect(wasFreshAtReset).toBe(false);
  await expect.poll(() => listener.isFresh()).toBe(true);
  const notice = nextNotice(listener);
  await notify("job_3");
  expect(await notice).toBe("job_3");
});

test("a half-open connection stops being fresh, is given up, and is replaced once the network is back", async () => {
  const { listener, proxy } = await openProxied();
  proxy.silence();
  await expect.poll(() => listener.isFresh()).toBe(false);
  const reset = nextReset(listener);
  await expect.poll(() => proxy.accepted()).toBeGreaterThan(1);
  expect(listener.isFresh()).toBe(false);
  proxy.restore();
  await reset;
  const notice = nextNotice(listener);
  await notify("job_4");
  expect(await notice).toBe("job_4");
});

function work(durationMs: number): void {
  const until = performance.now() + durationMs;
  while (performance.now() < until);
}

test("a loop that was busy for long reads the waiting answer before it gives the connection up", async () => {
  const listener = await startListener({ url: database.url, log });
  opened.push(listener);
  let resets = 0;
  listener.onReset(() => {
    resets += 1;
  });
  // Both timers are due when the first block of work ends. They run in one pass: a ping is sent, and the second block
  // begins before the response.
  const secondStretch = new Promise<void>((resolve) => {
    setTimeout(() => setImmediate(() => resolve(work(950))), 250);
  });
  work(300);
  await secondStretch;
  expect(listener.isFresh()).toBe(false);
  const notice = nextNotice(listener);
  await notify("job_5");
  expect(await notice).toBe("job_5");
  expect(resets).toBe(0);
});

test("a pooler that drops notices is refused by name, at either address", async () => {
  const pooler = await startDatabaseProxy(database.url, { sharesConnections: true });
  opened.push(pooler);
  await Promise.all([
    expect(startListener({ url: pooler.url, log })).rejects.toThrow(
      /^EMEND_DATABASE_URL .* set EMEND_DATABASE_LISTEN_URL/,
    ),
    expect(startListener({ url: database.url, listenUrl: pooler.url, log })).rejects.toThrow(
      /^EMEND_DATABASE_LISTEN_URL gets no notices/,
    ),
  ]);
});

test("listens beside a pooler at an address of its own, and hears what is written through it", async () => {
  const pooler = await startDatabaseProxy(database.url, { sharesConnections: true });
  opened.push(pooler);
  const listener = await startListener({ url: pooler.url, listenUrl: database.url, log });
  opened.push(listener);
  expect(listener.isFresh()).toBe(true);
  const notice = nextNotice(listener);
  await notify("job_6");
  expect(await notice).toBe("job_6");
});

test("a server that cannot be reached at first is the caller's to wait for", async () => {
  const proxy = await startDatabaseProxy(database.url);
  await proxy.close();
  await expect(startListener({ url: database.url, listenUrl: proxy.url, log })).rejects.toThrow("ECONNREFUSED");
});

test("closing ends the connection and the reconnecting", async () => {
  const { listener, proxy } = await openProxied();
  await listener.close();
  expect(listener.isFresh()).toBe(false);
  const { rows } = await database.pool.query(
    "select 1 from pg_stat_activity where application_name = 'emend listener' and datname = current_database()",
  );
  expect(rows).toEqual([]);
  expect(proxy.accepted()).toBe(1);
});

test("closing does not wait for a network that says nothing", async () => {
  const { listener, proxy } = await openProxied();
  proxy.silence();
  await listener.close();
  expect(listener.isFresh()).toBe(false);
});
