import { hash } from "node:crypto";

/** Everything that can say where a change stands and not what it is. */
const placement = /^(index |@@ | |\\ |$)/;

/**
 * The same for two diffs that add and remove the same lines in the same files, wherever those lines have moved to
 * since.
 */
export function changeIdOf(diff: string): string {
  const lines = diff.split("\n").filter((line) => !placement.test(line));
  return hash("sha256", lines.join("\n"), "hex");
}
