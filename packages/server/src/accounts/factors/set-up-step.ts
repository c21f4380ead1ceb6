import type { Client, Pool, Queryable } from "../../db/pool.ts";
import { inTransactionAs } from "../../db/transaction.ts";
import type { Sealer } from "../secrets.ts";
import { endSessions, openSession } from "../sessions/session-store.ts";
import { addApp, addPasskey } from "./change-factors.ts";
import type { NewPasskey } from "./passkeys.ts";
import { hasFactor } from "./requirement.ts";
import { findPending, loginExpired, type PendingLogin } from "./second-step.ts";

/**
 * The first factor of a person from whom the installation requires one. It is set up between the password and the
 * session: without it, there is no session.
 */

interface SetUpStep {
  pendingToken: string;
  address: string;
  replaces: string | null;
}

export interface SetUp {
  sessionToken: string;
  recoveryCodes: readonly string[] | null;
}

/** Whose login waits for a first factor. Who has one proves it: the password alone must not add another. */
export async function findSetUp(db: Queryable, token: string): Promise<PendingLogin> {
  const pending = await findPending(db, token);
  if (pending && !(await hasFactor(db, pending.userId))) return pending;
  throw loginExpired();
}

export async function setUpApp(
  deps: { pool: Pool; sealer: Sealer },
  step: SetUpStep,
  app: { setup: string; code: string },
): Promise<SetUp> {
  return setUp(deps.pool, step, "authenticator app", (client, userId) => addApp({ ...deps, client }, userId, app));
}

/** With a passkey that was verified. */
export async function setUpPasskey(
  pool: Pool,
  step: SetUpStep,
  passkey: NewPasskey & { name: string },
): Promise<SetUp> {
  return setUp(pool, step, "passkey", (client, userId) => addPasskey(client, userId, passkey));
}

async function setUp(
  pool: Pool,
  { pendingToken, address, replaces }: SetUpStep,
  factor: "authenticator app" | "passkey",
  add: (client: Client, userId: string) => Promise<readonly string[] | null>,
): Promise<SetUp> {
  const { userId, email } = await findSetUp(pool, pendingToken);
  return inTransactionAs(pool, { name: email, address }, async (client) => {
    // In the order of every change of a factor. Of two that set one up, the second finds it.
    await client.query("select from users where id = $1 for no key update", [userId]);
    const { how } = await findSetUp(client, pendingToken);
    const recoveryCodes = await add(client, userId);
    await endSessions(client, userId);
    const sessionToken = await openSession(client, { userId, how: `${how} and ${factor}`, address, replaces });
    return { sessionToken, recoveryCodes };
  });
}
