import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, loadConfig } from "./config.ts";

const secret = "0123456789abcdef0123456789abcdef";

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("loadConfig", () => {
  it("needs nothing for the embedded default", () => {
    const config = loadConfig({});
    expect(config).toMatchObject({ databaseUrl: null, role: "all", model: "emend/rules", port: 4600 });
    expect(Object.isFrozen(config)).toBe(true);
  });

  it("reports every problem at once", () => {
    const problems = problemsOf({
      EMEND_DATABASE_URL: "mysql://x",
      EMEND_PORT: "70000",
      EMEND_ROLE: "boss",
      EMEND_PUBLIC_URL: "ftp://x",
      EMEND_CONCURRENCY: "many",
      EMEND_LOG_LEVEL: "loud",
    });
    for (const name of ["DATABASE_URL", "SECRET", "PORT", "ROLE", "PUBLIC_URL", "CONCURRENCY", "LOG_LEVEL"]) {
      expect(problems.join("\n")).toContain(`EMEND_${name}`);
    }
  });

  it("refuses an external database without a secret of its own", () => {
    expect(problemsOf({ EMEND_DATABASE_URL: "postgres://db/emend" })).toHaveLength(1);
    expect(problemsOf({ EMEND_DATABASE_URL: "postgres://db/emend", EMEND_SECRET: secret })).toEqual([]);
  });

  it("refuses split roles on the embedded database", () => {
    expect(problemsOf({ EMEND_ROLE: "worker" }).join()).toContain("EMEND_DATABASE_URL");
  });

  it("reads a secret from a file, and refuses both forms together", () => {
    const file = join(mkdtempSync(join(tmpdir(), "emend-config-")), "secret");
    writeFileSync(file, `${secret}\n`);
    expect(loadConfig({ EMEND_SECRET_FILE: file }).secret).toBe(secret);
    expect(problemsOf({ EMEND_SECRET_FILE: file, EMEND_SECRET: secret })).toHaveLength(1);
    expect(problemsOf({ EMEND_SECRET_FILE: `${file}-missing` })).toHaveLength(1);
  });

  it("keeps a base path in the public URL and drops the trailing slash", () => {
    expect(loadConfig({ EMEND_PUBLIC_URL: "https://docs.example.com/emend/" }).publicUrl).toBe(
      "https://docs.example.com/emend",
    );
  });
});
