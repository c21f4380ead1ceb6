import { access, constants, realpath } from "node:fs/promises";
import { isAbsolute, join } from "node:path";

/** The file that a command means on a search path, links resolved; null where there is none. */
export async function findProgram(command: string, path: string): Promise<string | null> {
  for (const folder of path.split(":")) {
    if (!isAbsolute(folder)) continue;
    try {
      const file = join(folder, command);
      await access(file, constants.X_OK);
      return await realpath(file);
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}
