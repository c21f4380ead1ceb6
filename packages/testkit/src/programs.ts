import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Whether this machine has a program. A test of one that the README does not name is left out with `(needs NAME)`. */
export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
