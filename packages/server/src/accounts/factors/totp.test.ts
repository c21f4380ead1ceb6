import { randomBytes } from "node:crypto";
import { totpCode } from "@emend/testkit/totp-code.ts";
import { expect, it } from "vitest";
import { findStep, newTotpKey, toBase32, totpUri } from "./totp.ts";

/** As a library makes it that shares no code with ours. */
const codeAt = (key: string, step: number) => totpCode(key, 0, step);

it("accepts the codes of an authenticator app for the step before, this one and the next, and no other", () => {
  for (let round = 0; round < 20; round += 1) {
    const key = newTotpKey();
    const now = randomBytes(4).readUInt32BE();
    const codes = [-2, -1, 0, 1, 2].map((offset) => codeAt(key, now + offset));
    expect(codes.map((code) => findStep(key, code, { now, lastUsed: 0 }))).toEqual([null, now - 1, now, now + 1, null]);
  }
});

it("reads the keys and makes the codes of RFC 6238", () => {
  const key = toBase32(Buffer.from("12345678901234567890"));
  expect(key).toBe("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  // Appendix B, with six digits.
  for (const [seconds, code] of [
    [59, "287082"],
    [1_111_111_109, "081804"],
    [20_000_000_000, "353130"],
  ] as const) {
    const now = Math.floor(seconds / 30);
    expect(findStep(key, code, { now, lastUsed: 0 })).toBe(now);
  }
});

it("refuses a step that was used, and those before it", () => {
  const key = newTotpKey();
  const [before, now] = [codeAt(key, 100), codeAt(key, 101)];
  expect(findStep(key, now, { now: 101, lastUsed: 101 })).toBeNull();
  expect(findStep(key, before, { now: 101, lastUsed: 101 })).toBeNull();
  expect(findStep(key, now, { now: 101, lastUsed: 100 })).toBe(101);
});

it("writes a URI that apps read, whatever the address contains", () => {
  const uri = new URL(totpUri({ key: "ABC", issuer: "Emend docs.acme.com", account: "a+b&c=d?e#f:g@acme.com" }));
  expect([uri.protocol, uri.host]).toEqual(["otpauth:", "totp"]);
  expect(decodeURIComponent(uri.pathname)).toBe("/Emend docs.acme.com:a+b&c=d?e#f:g@acme.com");
  expect(Object.fromEntries(uri.searchParams)).toEqual({ secret: "ABC", issuer: "Emend docs.acme.com" });
  expect(uri.href).not.toContain("+");
});
