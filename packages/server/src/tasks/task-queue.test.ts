import { once } from "node:events";
import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { startListener } from "../db/listener.ts";
import { AppError } from "../errors.ts";
import { askTask, listWaitingTasks, retryTask, startTaskQueue, type TaskKind } from "./task-queue.ts";

const log = createLogger({ level: "silent" });
const database = await createTestDatabase();
const { pool } = database;
const listener = await startListener({ url: database.url, log });
afterAll(async () => {
  await listener.close();
  await database.drop();
});

let queues: { stop(): Promise<void> }[] = [];
beforeEach(() => pool.query("delete from tasks"));
afterEach(async () => {
  await Promise.all(queues.map((queue) => queue.stop()));
  queues = [];
});

/** Due only once in years, so that it never becomes due during a test. */
const cron = "0 0 29 2 *";

function start(kinds: Record<string, TaskKind>, options: { pollEveryMs?: number } = { pollEveryMs: 20 }): void {
  queues.push(startTaskQueue({ pool, listener, log }, kinds, options));
}

const rowsOf = async (columns: string) =>
  (await pool.query(`select ${columns} from tasks order by kind, subject`)).rows;
const scheduled = [{ kind: "sweep", tries: 0, isDue: false, isHeld: false }];
const stateOf = () => rowsOf('kind, tries, due_at <= now() as "isDue", lease is not null as "isHeld"');

it("does what is due once, however many nodes look after it, and then waits for its hour", async () => {
  let done = 0;
  const sweep: TaskKind = {
    cron,
    async work() {
      done += 1;
    },
  };
  start({ sweep });
  await expect.poll(stateOf).toEqual(scheduled);
  expect(done).toBe(0);
  // As if no node was running then.
  await pool.query("update tasks set due_at = now() - interval '3 days'");
  start({ sweep });
  start({ sweep });
  await expect.poll(() => done).toBe(1);
  await expect.poll(stateOf).toEqual(scheduled);
  expect(done).toBe(1);
});

it("takes what is asked for at once, and forgets it once it is done", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  start({ sweep: { cron, work: async () => 0 }, look: { work: async (subject) => resolve(subject) } }, {});
  await expect.poll(stateOf).toEqual(scheduled);
  await askTask(pool, "look", "prj_1");
  expect(await promise).toBe("prj_1");
  await expect.poll(stateOf).toEqual(scheduled);
});

it("runs a task again that is requested while it runs, and never twice at once", async () => {
  const begun: (() => void)[] = [];
  let atOnce = 0;
  let most = 0;
  const look: TaskKind = {
    async work() {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise<void>((resolve) => begun.push(resolve));
      atOnce -= 1;
    },
  };
  start({ look });
  start({ look });
  await askTask(pool, "look", "prj_1");
  await askTask(pool, "look", "prj_1");
  await expect.poll(() => begun.length).toBe(1);
  await askTask(pool, "look", "prj_1");
  await askTask(pool, "look", "prj_1");
  begun[0]?.();
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.();
  await expect.poll(stateOf).toEqual([]);
  expect([begun.length, most]).toEqual([2, 1]);
});

it("tries what fails three times; then it waits for its hour, or until somebody runs it again", async () => {
  let tries = 0;
  const work = async () => {
    tries += 1;
    if (tries <= 6) throw new Error("a mistake of the program");
  };
  start({ sweep: { cron, work }, look: { work } });
  await expect.poll(stateOf).toEqual(scheduled);
  await askTask(pool, "look", "prj_1");
  await pool.query("update tasks set due_at = now()");
  const hasten = () => pool.query("update tasks set due_at = now() where lease is null and tries in (1, 2)");
  const given = { kind: "look", tries: 0, isDue: false, isHeld: false };
  await expect.poll(async () => (await hasten()) && stateOf()).toEqual([given, ...scheduled]);
  expect(tries).toBe(6);
  const problem = "It failed. The log says why.";
  const waiting = await listWaitingTasks(pool);
  expect(waiting.find(({ kind }) => kind === "look")).toMatchObject({ subject: "prj_1", problem, nextTryAt: null });
  expect(waiting.find(({ kind }) => kind === "sweep")).toMatchObject({ problem, nextTryAt: expect.any(String) });

  expect(await retryTask(pool, { kind: "look", subject: "prj_2" })).toBe(false);
  expect(await retryTask(pool, { kind: "sweep", subject: "" })).toBe(false);
  expect(await retryTask(pool, { kind: "look", subject: "prj_1" })).toBe(true);
  await expect.poll(stateOf).toEqual(scheduled);
  expect(tries).toBe(7);
});

it("keeps what a service cannot take, for as long as it asks, and shows it; a stop is no try", async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  let isAway = true;
  const words = "GitHub answered 503.";
  const look: TaskKind = {
    async work(_subject, signal) {
      if (isAway)
        throw new AppError("forge_unavailable", { publicMessage: words, retryable: true, retryAfterMs: 60_000 });
      begun.resolve(signal);
      await once(signal, "abort");
      throw signal.reason;
    },
  };
  start({ look });
  await askTask(pool, "look", "prj_1");
  const wait = () => rowsOf("tries, waits, problem, due_at > now() + interval '9 seconds' as \"isLater\"");
  await expect.poll(wait).toEqual([{ tries: 0, waits: 1, problem: words, isLater: true }]);
  expect(await listWaitingTasks(pool)).toMatchObject([{ kind: "look", subject: "prj_1", problem: words }]);
  // A request does not end the pause that the service asked for.
  await askTask(pool, "look", "prj_1");
  expect(await wait()).toMatchObject([{ waits: 1, isLater: true }]);
  // More often than what fails is tried.
  for (const waits of [2, 3, 4, 5]) {
    await pool.query("update tasks set due_at = now()");
    await expect.poll(wait).toMatchObject([{ waits, tries: 0 }]);
  }
  isAway = false;
  await pool.query("update tasks set due_at = now()");
  // Held here: a signal that nothing else refers to is collected, and never fires.
  const signal = await begun.promise;
  await queues.pop()?.stop();
  expect(signal.aborted).toBe(true);
  expect(await stateOf()).toEqual([{ kind: "look", tries: 0, isDue: true, isHeld: false }]);
});

it("keeps what the database could not take, however often", async () => {
  let tries = 0;
  const hear: TaskKind = {
    async work() {
      tries += 1;
      if (tries <= 5) throw Object.assign(new Error("terminating connection"), { code: "57P01" });
    },
  };
  await askTask(pool, "hear", "prj_1/7");
  start({ hear });
  for (let failed = 1; failed <= 5; failed += 1) {
    await expect
      .poll(() => rowsOf("waits, problem"))
      .toEqual([{ waits: failed, problem: "The database was unavailable." }]);
    await pool.query("update tasks set due_at = now()");
  }
  await expect.poll(stateOf).toEqual([]);
  expect(tries).toBe(6);
});

it("gives what was asked for with it, the last request's", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  await askTask(pool, "say", "job_1/c1", "no");
  await askTask(pool, "say", "job_1/c1", "yes");
  start({ say: { work: async (subject, _signal, words) => resolve(`${subject} ${words}`) } });
  expect(await promise).toBe("job_1/c1 yes");
});

it("a task that is claimed while the process stops does not begin, and that is no try", async () => {
  await askTask(pool, "look", "prj_1");
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const slow = {
    async query(text: string, values: unknown[]) {
      const answer = await pool.query(text, values);
      asked.resolve();
      await answered.promise;
      return answer;
    },
  };
  let begun = 0;
  const look: TaskKind = {
    async work() {
      begun += 1;
    },
  };
  const queue = startTaskQueue({ pool: slow as unknown as typeof pool, listener, log }, { look }, {});
  await asked.promise;
  const stopped = queue.stop();
  answered.resolve();
  await stopped;
  expect(begun).toBe(0);
  expect(await stateOf()).toEqual([{ kind: "look", tries: 0, isDue: true, isHeld: false }]);
});

it("a kind whose tasks hang leaves room for the others", async () => {
  const { promise: open, resolve } = Promise.withResolvers<void>();
  const mail = Promise.withResolvers<void>();
  start({ look: { work: () => open }, mail: { work: async () => mail.resolve() } });
  try {
    for (const project of ["1", "2", "3", "4", "5"]) await askTask(pool, "look", project);
    await expect.poll(async () => (await stateOf()).filter(({ isHeld }) => isHeld).length).toBe(3);
    await askTask(pool, "mail", "1");
    await mail.promise;
  } finally {
    resolve();
  }
});

it("takes a task from a node that was killed, once its lease has expired, and from no other", async () => {
  const seen: string[] = [];
  await pool.query(
    `insert into tasks (kind, subject, due_at, tries, lease, held_until) values
       ('look', 'killed', now(), 1, gen_random_uuid(), now() - interval '1 second'),
       ('look', 'alive', now(), 1, gen_random_uuid(), now() + interval '1 hour'),
       ('look', 'kills its nodes', now(), 3, gen_random_uuid(), now() - interval '1 second'),
       ('of another release', '', now() - interval '1 hour', 0, null, null)`,
  );
  start({ look: { work: async (subject) => void seen.push(subject) } });
  await expect
    .poll(() => rowsOf("kind, subject, tries"))
    .toEqual([
      { kind: "look", subject: "alive", tries: 1 },
      { kind: "look", subject: "kills its nodes", tries: 0 },
      { kind: "of another release", subject: "", tries: 0 },
    ]);
  expect(seen).toEqual(["killed"]);
  const problem = "The processes that ran it were killed.";
  expect(await listWaitingTasks(pool)).toMatchObject([{ subject: "kills its nodes", problem, nextTryAt: null }]);
});

it.each<[string, Pick<TaskKind, "cron">]>([
  ["by the clock", { cron }],
  ["that was asked for", {}],
])("changes nothing of a task %s that another node has taken in the meantime", async (_which, kind) => {
  const taken = "00000000-0000-4000-8000-000000000000";
  const { promise, resolve } = Promise.withResolvers<void>();
  start({
    look: {
      ...kind,
      async work() {
        await pool.query("update tasks set lease = $1", [taken]);
        resolve();
      },
    },
  });
  await askTask(pool, "look", "");
  await promise;
  await queues.pop()?.stop();
  expect(await rowsOf("lease, tries")).toEqual([{ lease: taken, tries: 1 }]);
});

it("passes over a task that another node is claiming just now", async () => {
  const other = await pool.connect();
  try {
    await pool.query(
      "insert into tasks (kind, subject, due_at) values ('look', 'first', now()), ('look', 'second', now())",
    );
    await other.query("begin; select from tasks where subject = 'first' for update");
    const { promise, resolve } = Promise.withResolvers<string>();
    start({ look: { work: async (subject) => resolve(subject) } });
    expect(await promise).toBe("second");
  } finally {
    await other.query("rollback");
    other.release();
  }
});

it("leaves what concerns a project to its home workers for a while", async () => {
  const done: string[] = [];
  const { rows } = await pool.query("select hashtext('prj_1') & 1023 as slot");
  const own = Buffer.alloc(128);
  own[rows[0].slot >> 3] = 1 << (rows[0].slot & 7);
  for (const [name, slots] of [
    ["away", Buffer.alloc(128)],
    ["home", own],
  ] as const) {
    const look: TaskKind = { work: async () => void done.push(name) };
    const homes = { homeSlots: async () => slots };
    queues.push(startTaskQueue({ pool, listener, log, homes }, { look }, { pollEveryMs: 5, homeMs: 3_600_000 }));
  }
  await pool.query("insert into tasks (kind, subject, due_at) values ('look', 'prj_1', clock_timestamp())");
  await expect.poll(() => done).toEqual(["home"]);
  await queues.pop()?.stop();
  await pool.query("insert into tasks (kind, subject, due_at) values ('look', 'prj_1', now() - interval '2 hours')");
  await expect.poll(() => done).toEqual(["home", "away"]);
});
