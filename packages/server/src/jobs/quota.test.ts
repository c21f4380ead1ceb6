import { createTestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

const database = await createTestDatabase();
afterAll(() => database.drop());
const { pool } = database;

/** Ticks of a fake clock: a window is ten of them, so that traces often hit its exact edge. */
const windowTicks = 10;
const epochMs = Date.UTC(2030, 0, 1);

interface Step {
  atTick: number;
  limit: number;
}

interface Verdict {
  isAdmitted: boolean;
  used: number;
  freesAtTick: number;
}

/** The quota's specification, as short as possible: fewer than `limit` uses in the window that ends now. */
function judge(steps: readonly Step[]): Verdict[] {
  const uses: number[] = [];
  return steps.map(({ atTick, limit }) => {
    const inWindow = uses.filter((use) => use > atTick - windowTicks).toSorted((a, b) => a - b);
    const isAdmitted = inWindow.length < limit;
    if (isAdmitted) uses.push(atTick);
    const first = isAdmitted ? inWindow[0] : inWindow[inWindow.length - limit];
    return {
      isAdmitted,
      used: inWindow.length + (isAdmitted ? 1 : 0),
      freesAtTick: (first ?? atTick) + windowTicks,
    };
  });
}

async function admitAll(project: string, steps: readonly Step[]): Promise<Verdict[]> {
  const { rows } = await pool.query(
    `select is_admitted, used, extract(epoch from frees_at) * 1000 - $4 as frees_at_tick
     from unnest($2::float8[], $3::int[]) with ordinality as step (at, max, n)
     cross join lateral admit_use($1, 'create', max, make_interval(secs => $5), to_timestamp(at))
     order by n`,
    [
      project,
      steps.map(({ atTick }) => (epochMs + atTick) / 1000),
      steps.map(({ limit }) => limit),
      epochMs,
      windowTicks / 1000,
    ],
  );
  return rows.map((row) => ({ isAdmitted: row.is_admitted, used: row.used, freesAtTick: Number(row.frees_at_tick) }));
}

test("admits exactly what a sliding window allows, and says when the next use fits, over any trace", async () => {
  const step = fc.record({
    // Mostly forward, in small and large steps. Sometimes the clock is set back.
    ticks: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 4 }) }, fc.integer({ min: -5, max: 25 })),
    limit: fc.oneof({ weight: 9, arbitrary: fc.constant(3) }, fc.integer({ min: 0, max: 5 })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (trace) => {
      let atTick = 0;
      const steps = trace.map(({ ticks, limit }) => {
        atTick += ticks;
        return { atTick, limit };
      });
      expect(await admitAll(await seedProject(pool), steps)).toEqual(judge(steps));
    }),
    { numRuns: 100 },
  );
});

test("kinds and projects do not share a quota", async () => {
  const [one, other] = [await seedProject(pool), await seedProject(pool)];
  const admit = async (project: string, kind: string) =>
    (await pool.query("select is_admitted from admit_use($1, $2, 1, '1 hour', null)", [project, kind])).rows[0]
      .is_admitted;
  expect([await admit(one, "create"), await admit(one, "message"), await admit(other, "create")]).toEqual([
    true,
    true,
    true,
  ]);
  expect(await admit(one, "create")).toBe(false);
});

/** Two transactions request the last use concurrently. The first commits only after the second has sent its request. */
async function raceForOne(admit: string): Promise<boolean[]> {
  const project = await seedProject(pool);
  const [first, second] = [await pool.connect(), await pool.connect()];
  const ask = async (client: typeof first) =>
    (await client.query(`select is_admitted from ${admit}($1, 'create', 1, '1 hour', null)`, [project])).rows[0]
      .is_admitted;
  try {
    await first.query("begin");
    const one = await ask(first);
    const asked = ask(second);
    // In this database only: other tests share the server.
    const waits = `select 1 from pg_locks join pg_database on pg_database.oid = database
      where locktype = 'advisory' and not granted and datname = current_database()`;
    await Promise.race([asked, expect.poll(async () => (await pool.query(waits)).rowCount).toBe(1)]);
    await first.query("commit");
    return [one, await asked];
  } finally {
    first.release();
    second.release();
  }
}

test("of two that race for the last use one is admitted; without the lock it would be both", async () => {
  expect(await raceForOne("admit_use")).toEqual([true, false]);

  const { rows } = await pool.query("select pg_get_functiondef('admit_use'::regproc) as text");
  const lock = /perform pg_advisory_xact_lock\(.*\);/;
  expect(rows[0].text).toMatch(lock);
  await pool.query(rows[0].text.replace("admit_use", "admit_use_unlocked").replace(lock, ""));
  expect(await raceForOne("admit_use_unlocked")).toEqual([true, true]);
});
