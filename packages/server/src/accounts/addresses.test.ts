import { expect, test } from "vitest";
import { isAllowed, parseAllowList, throttledAddress } from "./addresses.ts";

function allows(entries: string[], address: string): boolean {
  const parsed = parseAllowList(entries);
  if (parsed.kind === "invalid") throw new Error(parsed.entry);
  return isAllowed(parsed.list, address);
}

test.each([
  [["192.0.2.7"], "192.0.2.7", true],
  [["192.0.2.7"], "192.0.2.8", false],
  [["192.0.2.0/24"], "192.0.2.255", true],
  [["192.0.2.0/24"], "192.0.3.0", false],
  [["192.0.2.7"], "::ffff:192.0.2.7", true],
  [["0.0.0.0/0"], "::1", false],
  [["::/0"], "2001:db8::1", true],
  [["2001:db8::/32"], "2001:db8:ffff::1", true],
  [["2001:db8::/32"], "2001:db9::1", false],
  [["10.0.0.0/8", "::1"], "::1", true],
  [["fe80::/10"], "fe80::1%eth0", true],
  [["0.0.0.0/0", "::/0"], "not an address", false],
])("%j and %s: %s", (entries, address, expected) => {
  expect(allows(entries, address)).toBe(expected);
});

test.each([
  "",
  "x",
  "192.0.2",
  "192.0.2.0/33",
  "::/129",
  "192.0.2.0/-1",
  "192.0.2.0/2/2",
  "192.0.2.0/",
  "fe80::1%eth0",
  "host.test",
])("%j is no entry of an allow-list", (entry) => {
  expect(parseAllowList(["::1", entry])).toEqual({ kind: "invalid", entry });
});

test("failures count against an IPv4 address or an IPv6 /64, however it is written", () => {
  expect(throttledAddress("192.0.2.7")).toBe("192.0.2.7");
  expect(throttledAddress("::ffff:192.0.2.7")).toBe("192.0.2.7");
  const one = ["2001:db8:0:1::1", "2001:db8:0:1:ffff::", "2001:0db8::1:2:3:4:5", "2001:db8:0:1:1:2:3:4"];
  expect(one.map(throttledAddress)).toEqual(one.map(() => "2001:db8:0:1::/64"));
  expect(throttledAddress("::1")).toBe("0:0:0:0::/64");
  expect([throttledAddress("x".repeat(9000)), throttledAddress(undefined)]).toEqual(["unknown", "unknown"]);
});
