import { join } from "node:path";
import { judgeConformance } from "@emend/testkit/mcp-conformance.ts";
import { expect, test } from "vitest";

// The protocol's official suite plays the servers. Not here: parts of the protocol that Emend does not use (elicitation,
// skills, subscriptions) and `auth/scope-step-up`: Emend asks a person once, and never for more rights on its own.
const all = [
  "initialize",
  "tools_call",
  "request-metadata",
  "http-standard-headers",
  "http-invalid-tool-headers",
  "json-schema-ref-no-deref",
  ...[
    "metadata-default",
    "metadata-var1",
    "metadata-var2",
    "metadata-var3",
    "basic-cimd",
    "scope-from-www-authenticate",
    "scope-from-scopes-supported",
    "scope-omitted-when-undefined",
    "scope-retry-limit",
    "token-endpoint-auth-basic",
    "token-endpoint-auth-post",
    "token-endpoint-auth-none",
    "pre-registration",
    "2025-03-26-oauth-metadata-backcompat",
    "2025-03-26-oauth-endpoint-fallback",
    "resource-mismatch",
    "offline-access-scope",
    "offline-access-not-supported",
    "authorization-server-migration",
    "iss-supported",
    "iss-not-advertised",
    "iss-supported-missing",
    "iss-wrong-issuer",
    "iss-unexpected",
    "metadata-issuer-mismatch",
  ].map((name) => `auth/${name}`),
];

test("the official conformance suite finds no fault in the client", async () => {
  const scenarios = all;
  const program = `"${process.execPath}" "${join(import.meta.dirname, "conformance-client.ts")}"`;
  const checks = await judgeConformance("client", scenarios, ["--command", program]);
  expect(checks.filter(({ status }) => status === "FAILURE")).toEqual([]);
  const passed = (scenario: string) => checks.some((one) => one.scenario === scenario && one.status === "SUCCESS");
  expect(scenarios.filter((scenario) => !passed(scenario))).toEqual([]);
});
