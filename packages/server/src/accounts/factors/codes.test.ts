import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { totpCode } from "@emend/testkit/totp-code.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inTransaction } from "../../db/transaction.ts";
import { createSealer } from "../secrets.ts";
import { appContext, replaceRecoveryCodes, spendCode } from "./codes.ts";
import { newTotpKey } from "./totp.ts";

const sealer = createSealer("a secret of the tests, and of nothing else");
const userId = "usr_ada";
const key = newTotpKey();
let database: TestDatabase;
let recoveryCode: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const { pool } = database;
  await pool.query("insert into users (id, email, name, role) values ($1, 'ada@example.com', 'Ada', 'owner')", [
    userId,
  ]);
  await pool.query("insert into authenticator_apps (user_id, secret, last_step) values ($1, $2, 0)", [
    userId,
    sealer.seal(key, appContext(userId)),
  ]);
  const codes = await inTransaction(pool, (client) => replaceRecoveryCodes(client, userId));
  recoveryCode = codes[0] ?? "";
});
afterAll(() => database.drop());

it.each([
  ["authenticator app", () => totpCode(key)],
  ["recovery code", () => recoveryCode],
])(
  "of two transactions that use the same code (%s), the second waits for the first and finds it used",
  async (kind, codeOf) => {
    const { pool } = database;
    const code = codeOf();
    const spend = (meanwhile: () => Promise<void>) =>
      inTransaction(pool, async (client) => {
        const spent = await spendCode({ client, sealer }, { userId, code });
        await meanwhile();
        return spent;
      });
    let second: Promise<unknown> = Promise.resolve();
    const first = await spend(async () => {
      second = spend(async () => {});
      await isWaiting();
    });
    expect([first, await second]).toEqual([kind, null]);
  },
);

/** Until a connection of this database waits for a lock of another. */
async function isWaiting(): Promise<void> {
  const waiting = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await database.pool.query(waiting)).rowCount, { timeout: 10_000 }).toBe(1);
}
