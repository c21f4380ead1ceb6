import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canEnter, findRunUser } from "../../server/src/db/embedded/run-tool.ts";

/** A socket in it needs about forty bytes more, and a Mac allows 104. */
const parentBytesMax = 56;

/** A temporary folder that the Postgres user can enter, and short enough for a socket, independent of TMPDIR. */
export async function makeReachableDir(user = findRunUser()): Promise<string> {
  for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    if (Buffer.byteLength(parent) > parentBytesMax) continue;
    const dir = await mkdtemp(join(parent, "emend-test-"));
    await chmod(dir, 0o755);
    if (canEnter(user, dir)) return dir;
    await rm(dir, { recursive: true });
  }
  throw new Error(`there is no temporary folder that ${user.name} can enter`);
}
