import { createHash, randomBytes } from "node:crypto";
import type { Client, Queryable } from "../../db/pool.ts";
import type { Sealer } from "../secrets.ts";
import { findStep, stepSeconds, toBase32 } from "./totp.ts";

/** Encrypts an authenticator app's key. */
export const appContext = (userId: string) => `authenticator app of ${userId}`;

/** The number of the current time step, by the database's clock: the nodes' clocks may differ. */
export const currentStep = `floor(extract(epoch from clock_timestamp()) / ${stepSeconds})::int`;

/**
 * Uses a code of the person, once: the app's, or a recovery code. Returns which it was, or null. Of two that come at the
 * same time, the second waits, and finds it used.
 */
export async function spendCode(
  deps: { client: Client; sealer: Sealer },
  input: { userId: string; code: string },
): Promise<"authenticator app" | "recovery code" | null> {
  const code = input.code.replaceAll(/[\s-]/g, "");
  if (!/^\d{6}$/.test(code)) return (await spendRecoveryCode(deps.client, input.userId, code)) ? "recovery code" : null;
  const { client, sealer } = deps;
  const { rows } = await client.query<{ secret: Buffer; lastUsed: number; now: number }>(
    `select secret, last_step::int as "lastUsed", ${currentStep} as now from authenticator_apps
     where user_id = $1`,
    [input.userId],
  );
  const app = rows[0];
  if (!app) return null;
  const step = findStep(sealer.open(app.secret, appContext(input.userId)), code, app);
  if (step === null) return null;
  const { rowCount } = await client.query(
    "update authenticator_apps set last_step = $2 where user_id = $1 and last_step < $2",
    [input.userId, step],
  );
  return rowCount === 1 ? "authenticator app" : null;
}

const codesCount = 10;

/** Replaces the person's recovery codes. They are shown now, and stored as hashes. */
export async function replaceRecoveryCodes(client: Client, userId: string): Promise<readonly string[]> {
  const codes = Array.from({ length: codesCount }, () => toBase32(randomBytes(10)).toLowerCase());
  await client.query("delete from recovery_codes where user_id = $1", [userId]);
  await client.query("insert into recovery_codes (code_hash, user_id) select unnest($1::bytea[]), $2", [
    codes.map(hashCode),
    userId,
  ]);
  await client.query(
    "select audit('factor.codes_created', id, jsonb_build_object('email', email)) from users where id = $1",
    [userId],
  );
  return codes.map((code) => code.replaceAll(/(.{4})(?!$)/g, "$1-"));
}

export async function countRecoveryCodes(db: Queryable, userId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "select count(*)::int as count from recovery_codes where user_id = $1",
    [userId],
  );
  return rows[0]?.count ?? 0;
}

async function spendRecoveryCode(client: Client, userId: string, code: string): Promise<boolean> {
  const { rowCount } = await client.query("delete from recovery_codes where code_hash = $1 and user_id = $2", [
    hashCode(code),
    userId,
  ]);
  if (rowCount !== 1) return false;
  await client.query(
    "select audit('factor.code_used', id, jsonb_build_object('email', email, 'left', $2::int)) from users where id = $1",
    [userId, await countRecoveryCodes(client, userId)],
  );
  return true;
}

/** 80 random bits cannot be guessed, so a plain hash is enough. */
function hashCode(code: string): Buffer {
  return createHash("sha256").update(code.toLowerCase()).digest();
}
