import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openModel } from "@emend/agent";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ConfigError, type ConfigOverrides, loadConfig, readConfig } from "./config.ts";
import { readProvider, readSaml, readSingleSignOn } from "./single-sign-on-settings.ts";

describe("config", () => {
  const secret = "0123456789abcdef0123456789abcdef";
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), "emend-config-"));
    writeFileSync(join(dir, "empty"), "\n");
    writeFileSync(join(dir, "secret"), `${secret}\n`);
    mkdirSync(join(dir, "folder"));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  function problemsOf(env: NodeJS.ProcessEnv, overrides: ConfigOverrides = {}): readonly string[] {
    try {
      loadConfig(env, overrides);
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
    return [];
  }

  describe("loadConfig", () => {
    it("needs nothing for the embedded default", () => {
      const config = loadConfig({});
      expect(config).toMatchObject({
        databaseUrl: null,
        role: "all",
        model: "emend/rules",
        port: 4600,
        isDefaultDataDir: true,
      });
      expect(loadConfig({ EMEND_DATA_DIR: join(dir, "folder") }).isDefaultDataDir).toBe(false);
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
        EMEND_CELL: "EU 1",
      });
      for (const name of ["DATABASE_URL", "SECRET", "PORT", "ROLE", "PUBLIC_URL", "CONCURRENCY", "LOG_LEVEL", "CELL"]) {
        expect(problems.join("\n")).toContain(`EMEND_${name}`);
      }
    });

    it.each(["api", "worker"] as const)("names everything that role %s lacks", (role) => {
      const problems = problemsOf({}, { role });
      expect(problems).toHaveLength(3);
      for (const name of ["EMEND_DATABASE_URL", "EMEND_SECRET", "EMEND_PUBLIC_URL"]) {
        expect(problems.filter((problem) => problem.includes(name)).length).toBeGreaterThan(0);
      }
    });

    it("refuses an external database without a secret of its own", () => {
      expect(problemsOf({ EMEND_DATABASE_URL: "postgres://db/emend" })).toHaveLength(1);
      expect(problemsOf({ EMEND_DATABASE_URL: "postgres://db/emend", EMEND_SECRET: secret })).toEqual([]);
    });

    it("reads a secret from a file, and refuses both forms together", () => {
      const file = join(dir, "secret");
      expect(loadConfig({ EMEND_SECRET_FILE: file }).secret).toBe(secret);
      expect(problemsOf({ EMEND_SECRET_FILE: file, EMEND_SECRET: secret })).toHaveLength(1);
    });

    it.each([
      ["missing", "which does not exist"],
      ["empty", "which is empty"],
      ["folder", "which is a folder, not a file"],
    ])("says why the secret's file %s cannot be taken", (name, why) => {
      const file = join(dir, name);
      expect(problemsOf({ EMEND_SECRET_FILE: file })).toEqual([`EMEND_SECRET_FILE names ${file}, ${why}`]);
    });

    it.each([
      ["EMEND_TRUST_PROXY", "1"],
      ["EMEND_TRUST_PROXY", "yes"],
      ["EMEND_TRUST_PROXY", "10.0.0.0/33"],
      ["EMEND_TRUST_PROXY", "10.0.0.0/8,proxy.example.com"],
      ["EMEND_HOST", "http://0.0.0.0"],
      ["EMEND_HOST", "0.0.0.0:4600"],
      ["EMEND_HOST", "256.0.0.1"],
      ["EMEND_MODEL", "gpt-5"],
      ["EMEND_MODEL", "openai/"],
      ["EMEND_MODEL", "emend/rule"],
      ["EMEND_MODEL", "runner/emacs"],
      ["EMEND_MODEL_FALLBACKS", "openai/gpt-5,claude"],
      ["EMEND_MODEL_PRICES", "cheap"],
      ["EMEND_MODEL_SILENCE_SECONDS", "0"],
      ["EMEND_COMPATIBLE_BASE_URL", "localhost:11434"],
      ["EMEND_COMPATIBLE_CONTEXT_TOKENS", "32k"],
      ["EMEND_COMPATIBLE_CONTEXT_TOKENS", "4096"],
      ["EMEND_PORT", "0x10"],
      ["EMEND_PORT", " 80"],
      ["EMEND_METRICS_PORT", "-1"],
      ["EMEND_METRICS_PORT", "4600"],
      ["EMEND_CONCURRENCY", "0"],
      ["EMEND_PROMPT_MAX", "1e9"],
      ["EMEND_ARCHIVE_AFTER_DAYS", "0"],
      ["EMEND_BUILDS_AT_ONCE", "-1"],
      ["EMEND_BUILD_MEMORY_MB", "1"],
      ["EMEND_BUILD_REGISTRY", "registry.example.com"],
      ["EMEND_RUNNER_MEMORY_MB", "1"],
      ["EMEND_RUNNER_UNSANDBOXED", "yes"],
      ["EMEND_RUNNERS", "claude-code,emacs"],
      ["EMEND_ALLOW_PRIVATE_WEBHOOKS", "on"],
      ["EMEND_LOG_LEVEL", "verbose"],
      ["EMEND_PUBLIC_URL", "emend.example.com"],
      ["EMEND_DATA_DIR", "/dev/null"],
      ["EMEND_FORGE_DIR", "/dev/null/forge"],
      ["EMEND_CA_FILE", "/dev/null"],
      ["EMEND_CA_FILE", "/no/such/file"],
      ["EMEND_OIDC_NAME", "Okta"],
    ])("refuses %s=%s in one sentence that names both", (name, value) => {
      const problems = problemsOf({ [name]: value });
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(name);
      if (!["EMEND_MODEL_PRICES", "EMEND_OIDC_NAME"].includes(name))
        expect(problems[0]).toContain(value.split(",").at(-1));
      expect(problems[0]).toMatch(/must be|names|required/);
    });

    it("reads the mail server and the sender", () => {
      const read = (url: string, from = "Emend <emend@acme.test>") =>
        loadConfig({ EMEND_SMTP_URL: url, EMEND_SMTP_FROM: from }).smtp;
      expect(read("smtp://emend:p%40ss@mail.test")).toEqual({
        host: "mail.test",
        port: 587,
        isSecure: false,
        login: { user: "emend", password: "p@ss" },
        from: { name: "Emend", address: "emend@acme.test" },
        caFile: null,
      });
      expect(read("smtps://[::1]", "emend@acme.test")).toMatchObject({
        host: "::1",
        port: 465,
        isSecure: true,
        login: null,
      });
      for (const [url, from] of [
        ["smtp://mail.test/path", "emend@acme.test"],
        ["smtp://", "emend@acme.test"],
        ["https://mail.test", "emend@acme.test"],
        ["smtp://mail.test", "a@b.test\nBcc: c@d.test"],
        ["smtp://mail.test", "a@b.test, c@d.test"],
        ["smtp://mail.test", ""],
      ]) {
        expect(problemsOf({ EMEND_SMTP_URL: url, EMEND_SMTP_FROM: from })).toHaveLength(1);
      }
    });

    it.each([
      ["EMEND_SECRET", "too-short-to-keep"],
      ["EMEND_DATABASE_URL", "mysql://emend:hunter2-hunter2@db/x"],
      ["EMEND_DATABASE_URL", "emend:hunter2-hunter2@db/x"],
      ["EMEND_METRICS_TOKEN", "short token"],
      ["EMEND_SMTP_URL", "http://emend:hunter2-hunter2@mail.test"],
      ["EMEND_PUBLIC_URL", "https://emend:hunter2-hunter2@x.test"],
      ["EMEND_COMPATIBLE_BASE_URL", "https://emend:hunter2-hunter2@x.test"],
      ["EMEND_OIDC_ISSUER", "ftp://emend:hunter2-hunter2@x.test"],
    ])("tells what is wrong with %s without quoting it", (name, value) => {
      const words = problemsOf({ [name]: value }).join("\n");
      expect(words).toContain(name);
      expect(words).not.toContain(value);
      expect(words).not.toContain("hunter2");
    });

    it("takes every form of a proxy's address, of a host and of a model", () => {
      const ranges = "loopback, 10.0.0.0/8,2001:db8::/32 ,192.0.2.1";
      expect(loadConfig({ EMEND_TRUST_PROXY: ranges }).trustProxy).toBe("loopback,10.0.0.0/8,2001:db8::/32,192.0.2.1");
      expect(loadConfig({ EMEND_TRUST_PROXY: "true" }).trustProxy).toBe(true);
      for (const host of ["0.0.0.0", "::", "::1", "localhost", "node-1.internal"]) {
        expect(loadConfig({ EMEND_HOST: host }).host).toBe(host);
      }
      for (const model of ["emend/rules", "anthropic/claude-x", "compatible/org/model:8b", "runner/codex/gpt-5"]) {
        expect(loadConfig({ EMEND_MODEL: model }).model).toBe(model);
      }
    });

    it("admits exactly the models and runners that there are", async () => {
      const deps = { endpoints: {}, prices: {}, fetch, runners: { path: "" } as never, keyOf: async () => null };
      for (const name of ["anthropic/x", "openai/x", "google/x", "compatible/x", "mistral/x", "runner/codex"]) {
        const isAdmitted = problemsOf({ EMEND_MODEL: name }).length === 0;
        const refusal = await openModel(deps, { name, projectId: null }).then(
          () => "",
          (error: Error) => error.message,
        );
        expect(/Unknown model|There is no runner/.test(refusal), name).toBe(!isAdmitted);
      }
    });

    it("checks a variable that a flag overrides too", () => {
      expect(problemsOf({ EMEND_PORT: "x" }, { port: 0 })).toHaveLength(1);
    });

    it("notices variables in our name that nothing reads, with the one that was meant", () => {
      const { unknownSettings } = loadConfig({
        EMEND_TRUSTED_PROXY: "true",
        EMEND_SECRETS_FILE: "/run/secret",
        EMEND_MODLE: "emend/rules",
        EMEND_SOMETHING_ELSE_ENTIRELY: "1",
        EMEND_API_KEY: "a client's",
        EMEND_TEST_SEED: "1",
        EMEND_PORT: "0",
        EMEND_HOST_FILE: "",
      });
      expect(unknownSettings).toEqual([
        { variable: "EMEND_MODLE", nearest: "EMEND_MODEL" },
        { variable: "EMEND_SECRETS_FILE", nearest: "EMEND_SECRET_FILE" },
        { variable: "EMEND_SOMETHING_ELSE_ENTIRELY", nearest: null },
        { variable: "EMEND_TRUSTED_PROXY", nearest: "EMEND_TRUST_PROXY" },
      ]);
    });

    it("keeps a base path in the public URL and drops the trailing slash", () => {
      expect(loadConfig({ EMEND_PUBLIC_URL: "https://docs.example.com/emend/" }).publicUrl).toBe(
        "https://docs.example.com/emend",
      );
    });
  });
});

const whole = {
  EMEND_OIDC_ISSUER: "https://id.example.com",
  EMEND_OIDC_CLIENT_ID: "emend",
  EMEND_OIDC_CLIENT_SECRET: "secret",
};

function read(env: Record<string, string>) {
  const problems: string[] = [];
  const config = readSingleSignOn((name) => env[name] ?? null, problems);
  return { config, problems };
}

it("is off unless an issuer is set, and then admits only invited people", () => {
  expect(read({})).toEqual({ config: null, problems: [] });
  expect(read(whole)).toEqual({
    problems: [],
    config: {
      issuer: "https://id.example.com",
      clientId: "emend",
      clientSecret: "secret",
      name: "id.example.com",
      domains: [],
      defaultRole: "viewer",
    },
  });
  const more = {
    EMEND_OIDC_DOMAINS: " Example.com, ,b.test",
    EMEND_OIDC_DEFAULT_ROLE: "maintainer",
    EMEND_OIDC_NAME: "ID",
  };
  expect(read({ ...whole, ...more }).config).toMatchObject({
    name: "ID",
    domains: ["example.com", "b.test"],
    defaultRole: "maintainer",
  });
});

it.each([
  ["http to another machine", { ...whole, EMEND_OIDC_ISSUER: "http://id.example.com" }, "EMEND_OIDC_ISSUER"],
  ["no URL", { ...whole, EMEND_OIDC_ISSUER: "id.example.com" }, "EMEND_OIDC_ISSUER"],
  ["a user in the URL", { ...whole, EMEND_OIDC_ISSUER: "https://a@id.example.com" }, "EMEND_OIDC_ISSUER"],
  ["no client", { EMEND_OIDC_ISSUER: "https://x.test", EMEND_OIDC_CLIENT_SECRET: "s" }, "EMEND_OIDC_CLIENT_ID"],
  ["no secret", { EMEND_OIDC_ISSUER: "https://x.test", EMEND_OIDC_CLIENT_ID: "c" }, "EMEND_OIDC_CLIENT_SECRET"],
  ["a client without an issuer", { EMEND_OIDC_CLIENT_ID: "c" }, "EMEND_OIDC_ISSUER"],
  ["a role that is none", { ...whole, EMEND_OIDC_DEFAULT_ROLE: "god" }, "EMEND_OIDC_DEFAULT_ROLE"],
])("refuses %s in words", (_what, env, name) => {
  const { problems } = read(env as Record<string, string>);
  expect(problems.join()).toContain(name);
  expect(problems.join()).not.toContain("secret");
});

const pem = readFileSync(new URL("../../../testkit/src/certificates/saml-one.cert.pem", import.meta.url), "utf8");
const metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="acme"><IDPSSODescriptor>
  <KeyDescriptor><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>
  ${pem.replace(/-----.*-----/g, "")}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
  <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://id.acme.com/post"/>
  <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://id.acme.com/sso"/>
</IDPSSODescriptor></EntityDescriptor>`;
const values = {
  EMEND_SAML_ENTITY_ID: "acme",
  EMEND_SAML_SIGN_IN_URL: "https://id.acme.com/sso",
  EMEND_SAML_CERTIFICATES: pem + pem,
};
const url = { EMEND_SAML_METADATA_URL: "https://id.acme.com/metadata?app=1" };
const samlOf = (env: Record<string, string>) => {
  const problems: string[] = [];
  const config = readSaml((name) => env[name] ?? null, problems);
  return { config, problems };
};

it("SAML is off unless a provider is set: by URL, by document or by its three values", () => {
  expect(samlOf({})).toEqual({ config: null, problems: [] });
  const access = { domains: [], defaultRole: "viewer", name: "id.acme.com" };
  expect(samlOf(url)).toEqual({
    config: { source: { kind: "url", url: url.EMEND_SAML_METADATA_URL }, ...access },
    problems: [],
  });
  const provider = { entityId: "acme", signInUrl: "https://id.acme.com/sso", certificates: [pem] };
  expect(samlOf({ EMEND_SAML_METADATA: metadata })).toEqual({
    config: { source: { kind: "fixed", provider }, ...access },
    problems: [],
  });
  const more = { EMEND_SAML_NAME: "Acme", EMEND_SAML_DOMAINS: "acme.com", EMEND_SAML_DEFAULT_ROLE: "maintainer" };
  expect(samlOf({ ...values, ...more })).toEqual({
    config: {
      source: { kind: "fixed", provider: { ...provider, certificates: [pem, pem] } },
      ...{ name: "Acme", domains: ["acme.com"], defaultRole: "maintainer" },
    },
    problems: [],
  });
});

it.each([
  ["http to another machine", { EMEND_SAML_METADATA_URL: "http://id.acme.com" }, "EMEND_SAML_METADATA_URL"],
  ["two sources", { ...url, ...values }, "set one of the three"],
  ["half of the values", { EMEND_SAML_ENTITY_ID: "acme" }, "EMEND_SAML_SIGN_IN_URL, EMEND_SAML_CERTIFICATES"],
  ["a sign-in URL over http", { ...values, EMEND_SAML_SIGN_IN_URL: "http://id.acme.com" }, "https sign-in URL"],
  ["no certificate", { ...values, EMEND_SAML_CERTIFICATES: "MII" }, "certificates"],
  ["no metadata", { EMEND_SAML_METADATA: "<html/>" }, "EMEND_SAML_METADATA is not valid"],
  ["domains without a provider", { EMEND_SAML_DOMAINS: "acme.com" }, "EMEND_SAML_METADATA_URL is required"],
  ["no domain", { ...url, EMEND_SAML_DOMAINS: "acme" }, "EMEND_SAML_DOMAINS"],
  ["a role that is none", { ...url, EMEND_SAML_DEFAULT_ROLE: "god" }, "EMEND_SAML_DEFAULT_ROLE"],
])("SAML refuses %s in words", (_what, env, words) => {
  expect(samlOf(env as Record<string, string>).problems.join()).toContain(words);
});

it("there is one identity provider", () => {
  const problems: string[] = [];
  const both: Record<string, string> = { ...whole, ...url };
  readProvider((name) => both[name] ?? null, problems);
  expect(problems).toEqual([expect.stringContaining("keep one identity provider")]);
});

it("chats need all of their settings, and no error contains a token", () => {
  const problemsOf = (env: Record<string, string>) => readConfig(env).problems;
  expect(problemsOf({ EMEND_SLACK_BOT_TOKEN: "xoxb-1", EMEND_SLACK_APP_TOKEN: "xapp-1" })).toEqual([]);
  expect(problemsOf({ EMEND_SLACK_BOT_TOKEN: "xoxb-1" })).toEqual([
    expect.stringContaining("EMEND_SLACK_SIGNING_SECRET"),
  ]);
  const swapped = problemsOf({ EMEND_SLACK_BOT_TOKEN: "xapp-secret", EMEND_SLACK_APP_TOKEN: "xoxb-secret" });
  expect(swapped).toHaveLength(2);
  expect(swapped.join()).not.toContain("secret");
  expect(problemsOf({ EMEND_MATTERMOST_URL: "https://chat.acme.com" })).toEqual([
    expect.stringContaining("EMEND_MATTERMOST_TOKEN"),
  ]);
});
