import type { Client, Pool } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { parseName } from "../people/user.ts";
import type { Sealer } from "../secrets.ts";
import { endSessions } from "../sessions/session-store.ts";
import { appContext, countRecoveryCodes, currentStep, replaceRecoveryCodes } from "./codes.ts";
import type { NewPasskey } from "./passkeys.ts";
import { hasFactor, isFactorRequired } from "./requirement.ts";
import { findStep, newTotpKey, totpUri } from "./totp.ts";

/** Sets up, replaces and removes a person's second factors. Each change ends the person's other sessions. */

/** Whose factors change, and the session that stays. */
export interface FactorOwner {
  userId: string;
  sessionToken: string;
  actor: Actor;
}

const setupContext = (userId: string) => `authenticator app set up by ${userId}`;
const setupMs = 15 * 60_000;

/** A key for an app. It counts once the person confirmed it with a code; until then, the browser keeps it sealed. */
export function beginApp(
  { sealer }: { sealer: Sealer },
  input: { userId: string; email: string; publicUrl: string },
): { key: string; uri: string; setup: string } {
  const key = newTotpKey();
  const uri = totpUri({ key, issuer: `Emend ${new URL(input.publicUrl).hostname}`, account: input.email });
  const setup = sealer.seal(JSON.stringify({ key, until: Date.now() + setupMs }), setupContext(input.userId));
  return { key, uri, setup: setup.toString("base64url") };
}

/** In the transaction of a change. Returns recovery codes if the person has none yet. */
export async function addApp(
  { client, sealer }: { client: Client; sealer: Sealer },
  userId: string,
  input: { setup: string; code: string },
): Promise<readonly string[] | null> {
  const key = openSetup(sealer, userId, input.setup);
  const { rows } = await client.query<{ now: number }>(`select ${currentStep} as now`);
  const step = findStep(key, input.code.replaceAll(/\s/g, ""), { now: rows[0]?.now ?? 0, lastUsed: 0 });
  if (step === null) {
    throw new AppError("invalid_request", {
      publicMessage:
        "The code is wrong. Check that your phone's clock is right, and type the code that the app shows now.",
    });
  }
  // Another app takes the place of the one before.
  await client.query("delete from authenticator_apps where user_id = $1", [userId]);
  await client.query("insert into authenticator_apps (user_id, secret, last_step) values ($1, $2, $3)", [
    userId,
    sealer.seal(key, appContext(userId)),
    step,
  ]);
  return ensureRecoveryCodes(client, userId);
}

/** Null if there are some: they were shown then. */
async function ensureRecoveryCodes(client: Client, userId: string): Promise<readonly string[] | null> {
  return (await countRecoveryCodes(client, userId)) > 0 ? null : replaceRecoveryCodes(client, userId);
}

export async function removeApp(pool: Pool, owner: FactorOwner): Promise<void> {
  await changeFactors(pool, owner, async (client) => {
    await client.query("delete from authenticator_apps where user_id = $1", [owner.userId]);
    await dropUselessCodes(client, owner.userId);
  });
}

/** Recovery codes take the place of a factor. Without one, they must not lie around. The last one may be required. */
async function dropUselessCodes(client: Client, userId: string): Promise<void> {
  if (await hasFactor(client, userId)) return;
  if (await isFactorRequired(client)) {
    throw new AppError("conflict", {
      publicMessage: "This installation requires a second factor, and this is your last one. Set up another one first.",
    });
  }
  await client.query("delete from recovery_codes where user_id = $1", [userId]);
}

/** In the transaction of a change. Returns recovery codes if the person has none yet. */
export async function addPasskey(
  client: Client,
  userId: string,
  passkey: NewPasskey & { name: string },
): Promise<readonly string[] | null> {
  const { rowCount } = await client.query(
    `insert into passkeys (id, user_id, name, public_key, counter) values ($1, $2, $3, $4, $5)
     on conflict (id) do nothing`,
    [passkey.id, userId, parseName(passkey.name), passkey.publicKey, passkey.counter],
  );
  if (rowCount === 0) throw new AppError("conflict", { publicMessage: "This passkey is registered already." });
  return ensureRecoveryCodes(client, userId);
}

export async function removePasskey(pool: Pool, owner: FactorOwner, id: string): Promise<void> {
  await changeFactors(pool, owner, async (client) => {
    const { rowCount } = await client.query("delete from passkeys where id = $1 and user_id = $2", [id, owner.userId]);
    if (rowCount === 0) throw new AppError("not_found", { publicMessage: "Passkey not found." });
    await dropUselessCodes(client, owner.userId);
  });
}

/** Not a change of what logs somebody in, so the other sessions stay. */
export async function renamePasskey(
  pool: Pool,
  owner: FactorOwner,
  passkey: { id: string; name: string },
): Promise<void> {
  const name = parseName(passkey.name);
  const { rowCount } = await inTransactionAs(pool, owner.actor, (client) =>
    client.query("update passkeys set name = $3 where id = $1 and user_id = $2", [passkey.id, owner.userId, name]),
  );
  if (rowCount === 0) throw new AppError("not_found", { publicMessage: "Passkey not found." });
}

export async function renewRecoveryCodes(pool: Pool, owner: FactorOwner): Promise<readonly string[]> {
  return changeFactors(pool, owner, async (client) => {
    if (!(await hasFactor(client, owner.userId))) {
      throw new AppError("conflict", { publicMessage: "Set up a second factor first. It brings recovery codes." });
    }
    return replaceRecoveryCodes(client, owner.userId);
  });
}

/** One change at a time: the person's row is locked. */
export async function changeFactors<T>(
  pool: Pool,
  owner: FactorOwner,
  change: (client: Client) => Promise<T>,
): Promise<T> {
  return inTransactionAs(pool, owner.actor, async (client) => {
    await client.query("select from users where id = $1 for no key update", [owner.userId]);
    const result = await change(client);
    await endSessions(client, owner.userId, owner.sessionToken);
    return result;
  });
}

function openSetup(sealer: Sealer, userId: string, setup: string): string {
  try {
    const kept = JSON.parse(sealer.open(Buffer.from(setup, "base64url"), setupContext(userId)));
    if (kept.until > Date.now()) return kept.key;
  } catch {
    // Not sealed here, or for another person.
  }
  throw new AppError("invalid_request", { publicMessage: "This set-up has expired. Start it again." });
}
