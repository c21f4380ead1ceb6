// Costly: the official suite judges a server from outside.
import { judgeConformance, startKeyProxy } from "@emend/testkit/mcp-conformance.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Installation, startInstallation } from "../../cli/test/support/installation.ts";

// The protocol's official suite judges a whole server. Most of its scenarios ask for tools, prompts and resources of the
// suite's own sample server; these are the ones that any server with tools can pass.
const scenarios = [
  "server-initialize",
  "server-stateless",
  "ping",
  "tools-list",
  "caching",
  "dns-rebinding-protection",
  "http-header-validation",
  "sep-2164-resource-not-found",
  "tasks-capability-negotiation",
  "tasks-dispatch-and-envelope",
  "input-required-result-unsupported-methods",
  "input-required-result-ignore-extra-params",
  "input-required-result-validate-input",
];
/** What the suite says where a check needs its sample server, or a part of the protocol that Emend does not offer. */
const notHere = /^Not testable: server (?:does not list|exposes no tool)|Tool \S+ not found|Method not found$/;

let emend: Installation;
let proxy: Awaited<ReturnType<typeof startKeyProxy>>;
beforeAll(async () => {
  emend = await startInstallation();
  proxy = await startKeyProxy(emend.url, emend.key);
});
afterAll(async () => {
  await proxy.stop();
  await emend.stop();
});

test("the official conformance suite finds no fault in the server", async () => {
  const checks = await judgeConformance("server", scenarios, ["--url", `${proxy.url}/mcp`]);
  const failed = checks.filter(({ status, words }) => status === "FAILURE" && !notHere.test(words));
  expect(failed).toEqual([]);
  const passed = (scenario: string) => checks.filter((one) => one.scenario === scenario && one.status === "SUCCESS");
  expect(scenarios.filter((scenario) => passed(scenario).length === 0)).toEqual([]);
  // A subscription ends at once instead of waiting for what never comes, and tasks are for those who know them.
  const ids = checks.filter(({ status }) => status === "SUCCESS").map(({ id }) => id);
  expect(ids).toEqual(
    expect.arrayContaining(["sep-2575-server-sends-subscription-ack", "sep-2663-tasks-methods-non-declaring"]),
  );
});
