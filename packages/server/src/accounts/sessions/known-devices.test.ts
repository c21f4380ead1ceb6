import { expect, it } from "vitest";
import { createSealer } from "../secrets.ts";
import { createKnownDevices } from "./log-in.ts";
import type { Session } from "./session-store.ts";

const publicUrl = () => "https://emend.test/base";
const secret = "a secret of the tests, and of nothing else";
let session: Session | null = null;
let clockMs = 0;
const devicesOf = (by: string) =>
  createKnownDevices({
    sealer: createSealer(by),
    sessions: { find: async () => session },
    publicUrl,
    now: () => Date.now() + clockMs,
  });
const devices = devicesOf(secret);
const bare = (cookie: string) => cookie.split(";", 1)[0] ?? "";

it("knows a browser by what a login left there, and by nothing that was made elsewhere or long ago", async () => {
  const cookie = devices.cookieOf("Ada@example.com");
  expect(cookie).toMatch(/^__Host-emend-device=[\w-]+; Max-Age=15552000; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
  expect(await devices.find(`a=b; ${bare(cookie)}`)).toEqual({ email: "ada@example.com", id: expect.any(String) });
  expect(bare(cookie)).not.toContain("ada");
  for (const forged of [
    bare(devicesOf("another secret, as long as the first").cookieOf("ada@example.com")),
    // Not the last character: some of its bits are unused.
    bare(cookie).replace(/=./, (first) => (first === "=A" ? "=B" : "=A")),
    `__Host-emend-device=${createSealer(secret).seal('{"email":"ada@example.com","id":"x","expiresAtMs":9e15}', "single sign-on problem").toString("base64url")}`,
    "__Host-emend-device=",
    bare(cookie).replace("-device", "-passing"),
  ]) {
    expect(await devices.find(forged)).toBeNull();
  }
  clockMs = 181 * 86_400_000;
  expect(await devices.find(bare(cookie))).toBeNull();
  clockMs = 0;
});

it("knows a browser by its session, except a console session", async () => {
  session = { subject: "Ada@example.com", role: "viewer", userId: "usr_ada", isFresh: true, how: null };
  expect(await devices.find("")).toEqual({ email: "ada@example.com", id: "usr_ada" });
  session = { subject: "console", role: "owner", userId: null, isFresh: true, how: null };
  expect(await devices.find("")).toBeNull();
  session = null;
});
