// Costly: a key that a command stores is used by a server that runs already.
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FarModel, startFarModel } from "@emend/testkit/far-model.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Installation, startInstallation } from "./support/installation.ts";
import { runInProcess } from "./support/run-emend.ts";

const modelKey = "sk-of-the-project";
let emend: Installation;
let far: FarModel;
beforeAll(async () => {
  emend = await startInstallation();
  far = await startFarModel(() => "ready");
}, 120_000);
afterAll(async () => {
  await far.stop();
  await emend.stop();
});

function command(args: readonly string[], env: Record<string, string> = {}) {
  return runInProcess([...args, "--data", emend.dataDir], { env });
}

describe("a project's own model key, while the server runs", () => {
  test("is read from a variable or a file, and never shown", async () => {
    const set = await command(["model", "key", "set", emend.project, "openai", "--key-env", "MY_KEY"], {
      MY_KEY: modelKey,
    });
    expect(set).toMatchObject({ code: 0, stdout: `${emend.project}\n` });
    expect(set.stdout + set.stderr).not.toContain(modelKey);
    const file = join(emend.dir, "key");
    await writeFile(file, `${modelKey}\n`);
    const again = await command(["model", "key", "set", emend.project, "anthropic", "--key-file", file, "--json"]);
    expect(JSON.parse(again.stdout)).toEqual({ project: emend.project, vendor: "anthropic", key: "set" });
  });

  test("errors have one line", async () => {
    const wrong: readonly [args: string[], code: number, says: string][] = [
      [["set", emend.project, "openai"], 2, "OPENAI_API_KEY is not set"],
      [["set", emend.project, "openai", "--key-file", "/no/such"], 2, "/no/such"],
      [
        ["set", emend.project, "acme", "--key-env", "HOME"],
        2,
        "anthropic, openai, google, bedrock, vertex, azure, compatible",
      ],
      [["set", "prj_none", "openai", "--key-env", "HOME"], 4, "project not found: prj_none"],
      [["remove", emend.project, "google"], 4, "no own key for google"],
    ];
    const told = await Promise.all(wrong.map(([args]) => command(["model", "key", ...args])));
    for (const [index, [, code, says]] of wrong.entries()) {
      expect(told[index]).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(says) });
      expect(told[index]?.stderr.trimEnd().split("\n")).toHaveLength(1);
    }
  });

  test("secrets are not rotated under a running server", async () => {
    const { code, stderr } = await command(["secrets", "rotate"]);
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("Stop every one of them first") });
  });
});

describe("doctor", () => {
  const doctor = (env: Record<string, string>, ...args: string[]) =>
    runInProcess(["doctor", "--data", emend.dataDir, ...args], { env });

  test("asks the configured model and its fallbacks", async () => {
    const env = {
      ...far.environment,
      EMEND_MODEL: "openai/gpt-5",
      EMEND_MODEL_FALLBACKS: "anthropic/claude-sonnet-4-5",
    };
    const { code, stdout } = await doctor(env, "--json");
    expect(code).toBe(0);
    const told = JSON.parse(stdout).examinations.filter(({ name }: { name: string }) => /model|fallback/.test(name));
    expect(told).toEqual([
      {
        name: "model",
        verdict: "good",
        detail: expect.stringMatching(/^openai\/gpt-5 answers, in \d+ ms; window 400,000 tokens$/),
      },
      { name: "fallback", verdict: "good", detail: expect.stringContaining("anthropic/claude-sonnet-4-5 answers") },
    ]);
  });

  test("says what a model lacks, and exits with 1", async () => {
    const { code, stdout } = await doctor({ EMEND_MODEL: "anthropic/claude-sonnet-4-5" });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ model +anthropic\/claude-sonnet-4-5 is not reachable: .*ANTHROPIC_API_KEY/m);
    expect(stdout).toContain("EMEND_MODEL=emend/rules");
  });

  test("fails a public URL at which nothing answers while the server runs", async () => {
    const { code, stdout } = await doctor({ EMEND_URL: emend.url, EMEND_PUBLIC_URL: "http://127.0.0.1:9" });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✓ server +answers/m);
    expect(stdout).toMatch(/^✗ public url +nothing answers at http:\/\/127\.0\.0\.1:9$/m);
    expect((await doctor({ EMEND_PUBLIC_URL: emend.url })).stdout).toMatch(/^✓ public url +answers/m);
    // Something answers there, but without TLS.
    const untrusted = await doctor({ EMEND_PUBLIC_URL: emend.url.replace("http:", "https:") });
    expect(untrusted.stdout).toMatch(/^✗ public url +no trusted connection to https:.*SSL/m);
    expect(untrusted.stdout).toContain("EMEND_CA_FILE");
  });

  test("checks a client's machine as a client", async () => {
    const away = { XDG_CONFIG_HOME: emend.dir, HOME: emend.dir, EMEND_URL: emend.url };
    const client = (env: Record<string, string>) => runInProcess(["doctor"], { env: { ...away, ...env } });
    // The last is a sample's own.
    const { code, stdout } = await client({ EMEND_API_KEY: emend.key, EMEND_WEBHOOK_SECRET: "whsec_x" });
    expect(stdout).toMatch(/^· client +emend \S+ checked as a client.*\n +To check a server, .*--data DIR/m);
    expect(stdout).toMatch(/^✓ server +answers at /m);
    expect(stdout).toMatch(/^✓ key +EMEND_API_KEY is valid; projects: .*Docs/m);
    expect({ code, isServer: /database|model|open files/.test(stdout) }).toEqual({ code: 0, isServer: false });
    const wrong = await client({ EMEND_API_KEY: "emend_wrong" });
    expect(wrong).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^✗ key +the server does not take EMEND_API_KEY/m),
    });
    expect((await client({})).stdout).toMatch(/^✗ settings +EMEND_API_KEY is not set and you are not logged in/m);
    const project = await client({ EMEND_API_KEY: emend.key, EMEND_PROJECT: "nope" });
    expect(project.stdout).toMatch(/^✗ project +EMEND_PROJECT is nope/m);
    const nobody = await client({ EMEND_API_KEY: emend.key, EMEND_URL: "http://127.0.0.1:9" });
    expect(nobody).toMatchObject({ code: 1, stdout: expect.stringMatching(/^✗ server +nothing answers at [^;]+$/m) });
    // A setting of a server makes it a server's machine.
    expect((await client({ EMEND_MODEL: "emend/rules" })).stdout).toMatch(/^✗ database/m);
  });

  test("names a vendor's key that nothing uses in exactly one line", async () => {
    const { code, stdout, stderr } = await doctor({ ANTHROPIC_API_KEY: modelKey });
    expect(code).toBe(0);
    expect((stdout + stderr).split("\n").filter((line) => line.includes("ANTHROPIC_API_KEY"))).toHaveLength(1);
    expect(stdout + stderr).not.toContain(modelKey);
  });
});

describe("once the server has stopped", () => {
  const secretFile = () => join(emend.dataDir, "secret");
  const rotate = async (...args: string[]) => command(["secrets", "rotate", ...args], { NEW: "n".repeat(40) });
  beforeAll(() => emend.stopServer(), 60_000);

  test("secrets rotate seals with a new secret and puts it where the server looks", async () => {
    const before = await readFile(secretFile(), "utf8");
    const first = await rotate("--json");
    expect(first.code).toBe(0);
    expect(JSON.parse(first.stdout)).toEqual({ resealed: 2, keptIn: secretFile() });
    const made = await readFile(secretFile(), "utf8");
    expect(made).toMatch(/^[0-9a-f]{64}$/);
    expect(made).not.toBe(before);
    expect((await stat(secretFile())).mode & 0o777).toBe(0o600);

    // Decrypting what the first one sealed proves that the stored secret is the right one.
    const second = await rotate("--to-env", "NEW");
    expect(second).toMatchObject({ code: 0, stdout: "2\n", stderr: expect.stringContaining("project doctor") });
    expect(await readFile(secretFile(), "utf8")).toBe("n".repeat(40));
    expect(second.stderr).not.toContain("nnnn");
  });

  test("a wrong EMEND_SECRET is refused by serve and by other commands, and doctor says so", async () => {
    const wrong = { EMEND_SECRET: "w".repeat(40) };
    const refused = "EMEND_SECRET is not the secret that this database's credentials are sealed with";
    for (const line of [
      ["serve", "--port", "0"],
      ["project", "list"],
    ]) {
      const { code, stdout, stderr } = await command(line, wrong);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(refused) });
      expect(stdout).not.toContain("owner-link");
    }
    const seen = await command(["doctor"], wrong);
    expect(seen.code).not.toBe(0);
    expect(seen.stdout).toMatch(/✗ database .* EMEND_SECRET is not the secret/);
  });

  test("a rotation that was cut off is finished by the same command", async () => {
    // Simulates a kill between the database's commit and the renaming of the file.
    const chosen = "c".repeat(64);
    await writeFile(`${secretFile()}.next`, chosen, { mode: 0o600 });
    expect((await rotate("--json")).code).toBe(0);
    expect(await readFile(secretFile(), "utf8")).toBe(chosen);
    await expect(stat(`${secretFile()}.next`)).rejects.toThrow("ENOENT");
  });
});
