// Costly: what npm links is a file that the system starts.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runEmend } from "./support/run-emend.ts";

const folder = dirname(import.meta.dirname);

test.each([
  { args: ["nope"], says: "unknown command 'nope'" },
  { args: ["job", "crate"], says: "unknown command 'crate': did you mean create? (`emend job --help` shows how)" },
  { args: ["job", "create", "p", "x", "--wiat"], says: "unknown option '--wiat': did you mean --wait?" },
  { args: ["job", "create", "p", "-x"], says: "put -- before a text that begins with a dash" },
  { args: ["job", "create", "p", "Fix", "links"], says: "Put quotation marks around a text of several words" },
  { args: ["webhook", "add", "docs", "https://example.com"], says: "Name the project with --project" },
  { args: ["serve", "--port", "70000"], says: "from 0 to 65535" },
  { args: ["serve", "--role", "boss"], says: "Allowed choices are all, api, worker" },
  { args: ["project", "add", "Docs"], says: "--forge" },
  {
    args: ["project", "add", "Docs", "--forge", "local", "--repo", "/no/such/folder"],
    says: "nothing at /no/such/folder",
  },
  { args: ["key", "create", "--project", "p", "--expires", "soon"], says: "12h, 90d" },
  { args: ["key", "create", "--project", "p", "--allow", "10.0.0.0/40"], says: "203.0.113.0/24" },
  { args: ["demo", "--repo", "/no/such/folder"], says: "nothing at /no/such/folder" },
  { args: ["job", "create", "prj_1"], says: "prompt" },
  { args: ["job", "get", "p", "j"], says: "EMEND_API_KEY is not set" },
])("refuses $args with exit code 2 and one line", async ({ args, says }) => {
  const { code, stdout, stderr } = await runEmend(args);
  expect(stderr).toContain(says);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
});

test("what npm links in a checkout starts it, and is read by any Node that there is", async () => {
  const { bin } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, bin.emend), "--version"]);
  expect({ stdout, stderr }).toEqual({
    stdout: expect.stringMatching(/^0\.1\.0 \(schema \d{4}-[\w-]+\)\n$/),
    stderr: "",
  });
  // The build test covers the refusal of an old one, with the same file.
  expect(bin.emend).toBe("./bin/emend.cjs");
});

test("prints its version and its help on standard output", async () => {
  const version = await runEmend(["--version"]);
  expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0\.1\.0 /) });
  const help = await runEmend(["key", "create", "--help"]);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain("--json");
});

test("says every problem of the configuration at once", async () => {
  const env = { EMEND_DATABASE_URL: "mysql://x", EMEND_PORT: "many" };
  const { code, stderr } = await runEmend(["project", "list"], { env });
  expect(code).toBe(2);
  expect(stderr).toContain("EMEND_DATABASE_URL");
  expect(stderr).toContain("EMEND_PORT");
  expect(stderr).not.toContain("    at ");
});
