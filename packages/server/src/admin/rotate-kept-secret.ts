import { randomBytes } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createSealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { Client, Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { AppError, isAppError } from "../errors.ts";
import { resealCanary, type SealedRow, sealedColumns } from "../installation/sealed-values.ts";

export interface RotationInput {
  /** Null: the current one. */
  from: string | null;
  /** Null: generated, if this installation stores its own. */
  to: string | null;
}

interface RotationDeps {
  pool: Pool;
  config: Pick<Config, "secret" | "dataDir">;
  /** In use now. */
  secret: string;
}

/**
 * Encrypts everything with a new secret and, if the installation stores its own, replaces the file. The new secret is
 * on disk before the first row uses it, so that after a crash the same command continues.
 */
export async function rotateKeptSecret(
  deps: RotationDeps,
  input: RotationInput,
): Promise<{ resealed: number; keptIn: string | null }> {
  const { config } = deps;
  await refuseWhileServed(deps.pool);
  const former = [deps.secret, ...(input.from === null ? [] : [input.from])];
  if (config.secret !== null) {
    if (input.to === null) {
      throw refused("EMEND_SECRET is set by the environment, so the new secret must be given too.");
    }
    assertUsable(input.to, config.secret);
    return { ...(await rotateSecret(deps.pool, { from: former, to: input.to })), keptIn: null };
  }
  const file = join(config.dataDir, "secret");
  const draft = `${file}.next`;
  const begun = await readBegun(draft);
  if (begun !== null && input.to !== null && input.to !== begun) {
    throw refused("An earlier rotation was cut off. Finish it first: rotate without naming a new secret.");
  }
  const to = begun ?? input.to ?? randomBytes(32).toString("hex");
  assertUsable(to, deps.secret);
  if (begun === null) await writeDurably(draft, to);
  const done = await rotateSecret(deps.pool, { from: former, to }).catch(async (error: unknown) => {
    // Nothing was encrypted with it. If the connection broke, that is unknown, and the file stays.
    if (begun === null && isAppError(error)) await rm(draft);
    throw error;
  });
  await rename(draft, file);
  await syncFolder(dirname(file));
  return { ...done, keptIn: file };
}

/** The secret of an interrupted rotation: rows may already use it. */
async function readBegun(draft: string): Promise<string | null> {
  try {
    return (await readFile(draft, "utf8")).trim() || null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A running server keeps encrypting with its old secret, and that data could never be decrypted. */
async function refuseWhileServed(pool: Pool): Promise<void> {
  const { rows } = await pool.query(
    "select 1 from pg_stat_activity where application_name = 'emend listener' and datname = current_database() limit 1",
  );
  if (rows.length === 0) return;
  throw new AppError("conflict", {
    publicMessage: "A server of this installation runs. Stop every one of them first.",
  });
}

function assertUsable(to: string, inUse: string): void {
  if (to.length < 32)
    throw refused("The new secret must have at least 32 characters; `openssl rand -hex 32` makes one.");
  if (to === inUse) throw refused("The new secret is the old one.");
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  await folder.sync().finally(() => folder.close());
}

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/**
 * Encrypts every stored credential again, all or none. Run it while no server runs, then start them with the new
 * secret. Idempotent.
 */
export async function rotateSecret(
  pool: Pool,
  secrets: { from: readonly string[]; to: string },
): Promise<{ resealed: number }> {
  const sealer = createSealer(secrets.to, secrets.from);
  return inTransaction(pool, async (client: Client) => {
    let resealed = 0;
    for (const { select, update, contextOf } of sealedColumns) {
      const { rows } = await client.query<SealedRow>(select);
      for (const row of rows) {
        const context = contextOf(row);
        await client.query(update, [row.id, sealer.seal(sealer.open(row.sealed, context), context), row.vendor]);
        resealed += 1;
      }
    }
    await resealCanary(client, sealer);
    return { resealed };
  });
}
