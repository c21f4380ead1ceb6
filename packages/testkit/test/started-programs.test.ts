import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");
/** What the README names, what every Debian has (`unshare` in tests for Linux), and our own command. */
const everywhere = new Set(
  "node npm npx git emend sh bash env kill ps cat chown head id ls mkfifo mknod sleep tar true unshare".split(" "),
);
const start =
  /(?:\b(?:spawn|exec|execFile|fork|startBound|runProgram)(?:Sync)?|promisify\(execFile\))\(\s*["'`]([^"'`\s/]+)/g;
const asProgram = /\bprogram: ["'`]([\w-]+)["'`]/g;

/** Programs that a source starts by a name of its own. */
function startedBy(source: string): readonly string[] {
  return [start, asProgram].flatMap((pattern) => [...source.matchAll(pattern)].map(([, name = ""]) => name));
}

it("finds each way to start a program", () => {
  const ways = [
    'execFileSync("oathtool", [])',
    "spawn(\n  'redis-server')",
    'promisify(execFile)("go")',
    '{ program: "bwrap" }',
  ];
  expect(ways.flatMap(startedBy)).toEqual(["oathtool", "redis-server", "go", "bwrap"]);
});

it("no test starts a program that the README does not name, unless its name says what it needs", () => {
  const files = globSync(
    ["packages/*/{src,test}/**/*.test.ts", "packages/*/test/**/*.ts", "packages/testkit/src/**/*.ts"],
    {
      cwd: root,
    },
  );
  expect(files.length).toBeGreaterThan(400);
  const unnamed = files.flatMap((file) => {
    const source = readFileSync(join(root, file), "utf8");
    const isNamed = (name: string) =>
      everywhere.has(name) || source.includes(`(needs ${name}`) || file.endsWith("started-programs.test.ts");
    return startedBy(source)
      .filter((name) => !isNamed(name))
      .map((name) => `${file}: ${name}`);
  });
  expect(unnamed).toEqual([]);
});

const costly =
  /\b(?:spawn|fork)\(|\bcreate database\b|[/-]chromium|testkit\/(?:\w+-)*(?:process|child)\.ts|throw-away-server|run-emend\.ts|browser\/support/;

it("a test with a process, a browser or a database server of its own says why a cheaper one would not fail", () => {
  const files = globSync("packages/*/{src,test}/**/*.test.ts", { cwd: root });
  const silent = files.filter((file) => {
    const source = readFileSync(join(root, file), "utf8");
    const isCostly = costly.test(source) || (file.includes("/test/browser/") && source.includes("./support/"));
    return isCostly && !/^\/\/ Costly: \S/m.test(source) && !file.endsWith("started-programs.test.ts");
  });
  expect(silent).toEqual([]);
});
