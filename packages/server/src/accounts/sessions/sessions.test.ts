import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLoginLink } from "../people/login-links.ts";
import { listOwnSessions } from "./session-store.ts";
import { clearCookie, createSessions, readCookie, setCookie } from "./sessions.ts";

const publicUrl = "https://docs.example.com/emend";
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const sessions = () => createSessions({ pool: database.pool, publicUrl: () => publicUrl });

async function newLinkToken(landsOn = "/forge/prj_a/pull/1"): Promise<string> {
  const link = await createLoginLink({ db: database.pool, publicUrl }, { landsOn });
  expect(link).toMatch(/^https:\/\/docs\.example\.com\/emend\/login\/[\w-]{43}$/);
  return link.slice(link.lastIndexOf("/") + 1);
}

describe("a login link", () => {
  it("opens a session and lands where it was made for", async () => {
    const claimed = await sessions().claim(
      await newLinkToken(`${publicUrl}/forge/prj_a/pull/7`),
      undefined,
      "198.51.100.7",
    );
    if (claimed.kind !== "claimed") throw new Error("not claimed");
    expect(claimed.location).toBe(`${publicUrl}/forge/prj_a/pull/7`);
    expect(claimed.cookie).toMatch(/^__Host-emend=[\w-]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    expect(await sessions().find(`other=1; ${claimed.cookie.split(";")[0]}`)).toEqual({
      subject: "console",
      role: "owner",
      userId: null,
      isFresh: true,
      how: "link",
    });
    const holder = { userId: null, token: sessions().tokenOf(claimed.cookie) ?? "" };
    expect(await listOwnSessions(database.pool, holder)).toMatchObject([
      { by: "link", address: "198.51.100.7", isThis: true },
    ]);
  });

  it("lets one of many racing browsers in", async () => {
    const token = await newLinkToken();
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => sessions().claim(token, undefined)));
    expect(outcomes.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
  });

  it("is gone when it is old, and when it never was", async () => {
    const token = await newLinkToken();
    await database.pool.query("update login_links set expires_at = clock_timestamp() where used_at is null");
    expect(await sessions().claim(token, undefined)).toEqual({ kind: "gone" });
    expect(await sessions().claim("A".repeat(43), undefined)).toEqual({ kind: "gone" });
  });

  it("ends the session that the browser had before", async () => {
    const first = await sessions().claim(await newLinkToken(), undefined);
    const cookie = first.kind === "claimed" ? first.cookie : "";
    await sessions().claim(await newLinkToken(), cookie);
    expect(await sessions().find(cookie)).toBeNull();
  });

  it.each(["https://evil.example/x", "//evil.example", "/../admin", "", "forge", `${publicUrl}.evil.example/`])(
    "cannot land on %j",
    async (landsOn) => {
      const link = createLoginLink({ db: database.pool, publicUrl }, { landsOn });
      await expect(link.then((url) => new URL(url).pathname)).rejects.toMatchObject({ code: "invalid_request" });
    },
  );

  it("is stored as a hash alone", async () => {
    const token = await newLinkToken();
    const { rows } = await database.pool.query<{ all: string }>("select login_links::text as all from login_links");
    expect(rows.map((row) => row.all).join()).not.toContain(token);
    expect(rows.map((row) => row.all).join()).not.toContain(Buffer.from(token).toString("hex"));
  });
});

describe("a session", () => {
  it("ends after its lifetime and by logging out", async () => {
    const claimed = await sessions().claim(await newLinkToken(), undefined);
    const cookie = claimed.kind === "claimed" ? claimed.cookie : "";
    expect(await sessions().find(cookie)).not.toBeNull();
    expect(await sessions().end(cookie)).toBe(clearCookie(publicUrl));
    expect(await sessions().find(cookie)).toBeNull();

    const second = await sessions().claim(await newLinkToken(), undefined);
    await database.pool.query("update sessions set expires_at = clock_timestamp()");
    expect(await sessions().find(second.kind === "claimed" ? second.cookie : "")).toBeNull();
  });
});

describe("the cookie over plain http", () => {
  it("has a name that browsers take there, and stays below the base path", () => {
    const token = "t".repeat(43);
    expect(setCookie("http://localhost:4600/emend", token, 60)).toBe(
      `emend_session=${token}; Max-Age=60; Path=/emend; HttpOnly; SameSite=Lax`,
    );
    expect(setCookie("http://localhost:4600", token, 60)).toContain("Path=/;");
    expect(readCookie("http://localhost:4600", `a=b; emend_session=${token}`)).toBe(token);
    expect(readCookie("http://localhost:4600", `emend_session=short`)).toBeNull();
    expect(readCookie("http://localhost:4600", `__Host-emend=${token}`)).toBeNull();
  });
});
