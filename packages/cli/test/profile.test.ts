import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ContractServer, newJob, startContractServer } from "../../sdk/test/support/contract-server.ts";
import { runEmend, runInProcess } from "./support/run-emend.ts";
import { makeTempDir, removeDir } from "./support/temp-dir.ts";

let server: ContractServer;
let dir: string;
let env: Record<string, string>;
let file: string;
beforeEach(async () => {
  server = await startContractServer();
  server.jobs.set("job_1", newJob("job_1"));
  dir = await makeTempDir();
  env = { XDG_CONFIG_HOME: dir };
  file = join(dir, "emend", "profiles.json");
});
afterEach(async () => {
  await server.stop();
  await removeDir(dir);
});

function login(...more: string[]) {
  return runEmend(["login", server.url, ...more], { env, input: "emend_test\n" });
}

test("login keeps the key for its owner alone, and job commands use it", async () => {
  expect(await login()).toMatchObject({ code: 0, stdout: "" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const { code } = await runInProcess(["job", "get", "docs", "job_1"], { env });
  expect(code).toBe(0);
  expect(server.seen.at(-1)?.headers.authorization).toBe("Bearer emend_test");
});

test("a key that the server refuses is not kept", async () => {
  server.faults.push({ kind: "answer", status: 401, body: '{"error":"No such key."}' });
  expect(await login()).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(`${server.url} does not take this key`),
  });
  const slip = await runInProcess(["login", "nonsense"], { env, input: "emend_test" });
  expect(slip).toMatchObject({ code: 2, stderr: expect.stringContaining("the address nonsense is not a URL") });
  await expect(stat(file)).rejects.toMatchObject({ code: "ENOENT" });
});

test.each([0o640, 0o604])("a file that others can reach (%o) is not read", async (mode) => {
  await login();
  await chmod(file, mode);
  const seen = server.seen.length;
  const { code, stderr } = await runInProcess(["job", "get", "docs", "job_1"], { env });
  expect(code).toBe(2);
  expect(stderr).toContain(`chmod 600 ${file}`);
  expect(server.seen).toHaveLength(seen);
});

test("a profile's key never goes to another server that EMEND_URL names", async () => {
  await login();
  const elsewhere = { ...env, EMEND_URL: "http://127.0.0.1:9" };
  const { code, stderr } = await runInProcess(["job", "get", "docs", "job_1"], { env: elsewhere });
  expect(code).toBe(2);
  expect(stderr).toContain("EMEND_URL=http://127.0.0.1:9 is not the server of profile default");
  const slip = await runInProcess(["job", "get", "docs", "job_1"], { env: { ...env, EMEND_URL: "localhost:4600" } });
  expect(slip).toMatchObject({ code: 2, stderr: expect.stringContaining("EMEND_URL=localhost:4600") });
  const none = await runInProcess(["job", "get", "docs", "job_1"], { env: { ...env, EMEND_URL: "nonsense" } });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("EMEND_URL=nonsense is not a URL") });
});

test("profiles are listed without keys, chosen and forgotten", async () => {
  await login();
  await login("--profile", "work");
  const { stdout } = await runInProcess(["profile", "list", "--json"], { env });
  expect(JSON.parse(stdout)).toEqual([
    { name: "default", url: server.url, current: false },
    { name: "work", url: server.url, current: true },
  ]);
  await runInProcess(["profile", "use", "default"], { env });
  const removed = await runInProcess(["profile", "remove", "work"], { env });
  expect(removed.stderr).toBe("Forgot profile work and its key. Profile default is in use.\n");
  expect(await readFile(file, "utf8")).not.toContain("work");
  expect((await runInProcess(["profile", "use", "work"], { env })).code).toBe(4);
});
