import { expect, it } from "vitest";
import { readSingleSignOn } from "./single-sign-on-settings.ts";

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

it("is off unless an issuer is named, and then lets nobody in whom nobody invited", () => {
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
