// Costly: a stored key is read by the next process.
import { once } from "node:events";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import tls from "node:tls";
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

test("commands trust the certificate authorities in EMEND_CA_FILE", async () => {
  const certificates = join(import.meta.dirname, "../../testkit/src/certificates");
  const [key, cert] = await Promise.all(
    ["key", "cert"].map((name) => readFile(join(certificates, `localhost.${name}.pem`))),
  );
  const trusted = tls.getCACertificates("default");
  const secure = createServer({ key, cert }, (_request, response) => response.end('{"projects":[]}')).listen(0);
  await once(secure, "listening");
  const at = `https://localhost:${(secure.address() as AddressInfo).port}`;
  const list = (caFile: Record<string, string>) =>
    runInProcess(["job", "list"], { env: { ...env, EMEND_URL: at, EMEND_API_KEY: "emend_test", ...caFile } });
  try {
    expect(await list({})).toMatchObject({ code: 1, stderr: expect.stringMatching(/certificate.*EMEND_CA_FILE/) });
    const empty = join(dir, "empty.pem");
    await writeFile(empty, "nothing");
    for (const [file, words] of [
      [join(dir, "nowhere.pem"), "does not exist"],
      [empty, "contains no certificate"],
    ] as const) {
      expect(await list({ EMEND_CA_FILE: file })).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
    }
    const reached = await list({ EMEND_CA_FILE: join(certificates, "localhost.cert.pem") });
    expect(reached.stderr).toContain("This key covers no project");
  } finally {
    // Other test files run in this process too.
    tls.setDefaultCACertificates(trusted);
    secure.closeAllConnections();
    secure.close();
  }
});
