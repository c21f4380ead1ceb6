import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canEnter, findRunUser } from "../../src/db/embedded/run-tool.ts";

/** A temporary folder that the Postgres user can enter, independent of TMPDIR. */
export async function makeReachableDir(user = findRunUser()): Promise<string> {
  for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    const dir = await mkdtemp(join(parent, "emend-test-"));
    await chmod(dir, 0o755);
    if (canEnter(user, dir)) return dir;
    await rm(dir, { recursive: true });
  }
  throw new Error(`there is no temporary folder that ${user.name} can enter`);
}
