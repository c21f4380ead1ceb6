import { randomBytes } from "node:crypto";
import { link, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureDataDir } from "../lib/ensure-data-dir.ts";

/**
 * The installation's secret: the configured one, or one generated here and stored next to the embedded database with
 * mode 0600. Processes that start together agree on the first, because a hard link is atomic.
 */
export async function ensureSecret(options: { secret: string | null; dataDir: string }): Promise<string> {
  if (options.secret !== null) return options.secret;
  await ensureDataDir(options.dataDir);
  const file = join(options.dataDir, "secret");
  return (await readSecret(file)) ?? makeSecret(file);
}

/** Null if it does not exist yet. */
export async function knownSecret(options: { secret: string | null; dataDir: string }): Promise<string | null> {
  return options.secret ?? readSecret(join(options.dataDir, "secret"));
}

async function makeSecret(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, randomBytes(32).toString("hex"), { mode: 0o600, flag: "wx" });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  return (await readFile(file, "utf8")).trim();
}

async function readSecret(file: string): Promise<string | null> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
