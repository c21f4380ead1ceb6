import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { ResolveAll } from "../notify/ssrf-guard.ts";
import { createForgeReach } from "./forge-reach.ts";

let asked = 0;
const inside = createServer((_request, response) => {
  asked += 1;
  response.end("{}");
});
beforeAll(() => new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve)));
afterAll(() => new Promise<void>((resolve) => void inside.close(() => resolve())));
const port = () => (inside.address() as AddressInfo).port;

/** An attacker's name server: each query gets the next answer (DNS rebinding). */
function answering(...answers: readonly string[][]): ResolveAll {
  let index = 0;
  return (_host, done) => {
    const found = answers[Math.min(index, answers.length - 1)] ?? [];
    index += 1;
    if (found.length === 0) return done(new Error("ENOTFOUND"), []);
    done(
      null,
      found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
}
const reachOf = (options: { resolve?: ResolveAll; allowPrivateForges?: boolean; httpsProxy?: string }) =>
  createForgeReach(
    {
      network: options.httpsProxy ? { httpsProxy: options.httpsProxy } : {},
      allowPrivateForges: options.allowPrivateForges ?? false,
    },
    options.resolve ? { resolve: options.resolve } : {},
  );

it.each([
  ["https://127.0.0.1/a/b"],
  ["https://[::1]/a/b"],
  ["https://[::ffff:10.0.0.1]/a/b"],
  ["https://2130706433/a/b"],
  ["https://0x7f.1/a/b"],
  ["https://10.1.2.3/a/b"],
  ["https://192.168.0.1:8443/a/b"],
  ["https://169.254.169.254/a/b"],
])("%s is refused", async (url) => {
  const reach = reachOf({});
  await expect(reach.addressesOf(url)).rejects.toMatchObject({ code: "repository_unavailable", retryable: false });
  await reach.close();
});

it.each([
  [["127.0.0.1"], false, null],
  [["10.0.0.9", "fd00::1"], false, null],
  [["10.0.0.9", "93.184.216.34"], false, ["93.184.216.34"]],
  [["10.0.0.9"], true, ["10.0.0.9"]],
  [["169.254.169.254"], true, null],
  [["fd00:ec2::254"], true, null],
])("a name with the addresses %j, private ones allowed: %j, is read from %j", async (found, isAllowed, read) => {
  const reach = reachOf({ resolve: answering(found), allowPrivateForges: isAllowed });
  const addresses = reach.addressesOf("https://forge.test/a/b");
  if (read === null) await expect(addresses).rejects.toMatchObject({ retryable: false });
  else expect(await addresses).toEqual(read);
  await reach.close();
});

it("a name without an address is looked up again later; behind a proxy, the proxy resolves it", async () => {
  const url = "https://forge.test/a/b";
  const httpsProxy = "http://proxy.test:3128";
  await expect(reachOf({ resolve: answering([]) }).addressesOf(url)).rejects.toMatchObject({ retryable: true });
  expect(await reachOf({ resolve: answering([]), httpsProxy }).addressesOf(url)).toBeNull();
  // A name with one private address is refused.
  const mixed = reachOf({ resolve: answering(["10.0.0.9", "93.184.216.34"]), httpsProxy });
  await expect(mixed.addressesOf(url)).rejects.toMatchObject({ retryable: false });
});

it("API requests never reach a private address, even if the name's address changes meanwhile", async () => {
  const init = { method: "GET", headers: {}, redirect: "manual", signal: AbortSignal.timeout(5_000) } as const;
  const rebinding = reachOf({ resolve: answering(["93.184.216.34"], ["127.0.0.1"]) });
  expect(await rebinding.addressesOf(`http://forge.test:${port()}/a`)).toEqual(["93.184.216.34"]);
  await expect(rebinding.fetch(`http://forge.test:${port()}/a`, init)).rejects.toMatchObject({
    code: "repository_unavailable",
    retryable: false,
    cause: { name: "AddressRefused" },
  });
  await expect(rebinding.fetch(`http://127.0.0.1:${port()}/a`, init)).rejects.toMatchObject({ retryable: false });
  expect(asked).toBe(0);
  const allowed = reachOf({ resolve: answering(["127.0.0.1"]), allowPrivateForges: true });
  expect((await allowed.fetch(`http://forge.test:${port()}/a`, init)).status).toBe(200);
  expect(asked).toBe(1);
  await rebinding.close();
  await allowed.close();
});
