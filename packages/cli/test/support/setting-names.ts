import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../server/src/config/config.ts";

/** Used by builds in tests only. */
const ofTests = new Set(["EMEND_TEST_BUILD", "EMEND_CRASH_AT"]);

/** The variables that a server reads, found by watching its reads. `<NAME>_FILE` is implied. */
export function serverSettings(): string[] {
  const read = new Set<string>();
  const watched = new Proxy({}, { get: (_target, name) => void read.add(String(name)) });
  loadConfig(watched as NodeJS.ProcessEnv);
  const isFileOf = (name: string) => name.endsWith("_FILE") && read.has(name.slice(0, -"_FILE".length));
  return [...read].filter((name) => name.startsWith("EMEND_") && !isFileOf(name) && !ofTests.has(name)).toSorted();
}

/** The other variables that the command line reads, found in the source lines that read its environment. */
export function commandSettings(): string[] {
  const source = join(import.meta.dirname, "..", "..", "src");
  const lines = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
    .flatMap((name) => readFileSync(join(source, name), "utf8").split("\n"))
    .filter((line) => /\benv\b/.test(line) && !line.trim().startsWith("*"));
  const names = lines.flatMap((line) => line.match(/(?<=env\.|[{,] )EMEND_[A-Z_]+[A-Z]/g) ?? []);
  const ofServer = new Set(serverSettings());
  return [...new Set(names)].filter((name) => !ofServer.has(name.replace(/_FILE$/, ""))).toSorted();
}
