import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSession } from "../accounts/sessions/session-store.ts";
import { createSessions } from "../accounts/sessions/sessions.ts";

let host: DashboardApi;
beforeAll(async () => {
  host = await startDashboard();
});
afterAll(() => host.close());

/** Another browser of the same user. */
async function logInElsewhere(userId: string): Promise<string> {
  const token = await openSession(host.api.pool, { userId, how: "link", address: "198.51.100.7", replaces: null });
  const { pool } = host.api;
  return (
    createSessions({ pool, publicUrl: () => "https://emend.test/base" })
      .cookieOf(token)
      .split(";", 1)[0] ?? ""
  );
}
const list = async (cookie: string) => (await host.send("/sessions", { cookie })).json().sessions;
const statusOf = async (cookie: string) => (await host.send("/session", { cookie })).statusCode;

it("lists the caller's own sessions, this one first, with their login method and without tokens", async () => {
  const ada = await host.addMember("viewer");
  await host.addMember("owner");
  await logInElsewhere(ada.id);
  await host.api.pool.query(
    `insert into sessions (token_hash, subject, user_id, expires_at)
     values ('of the release before', 'console', $1, clock_timestamp() + interval '1 day')`,
    [ada.id],
  );
  const times = { startedAt: expect.any(String), expiresAt: expect.any(String) };
  expect(await list(ada.cookie)).toEqual([
    { ...times, isThis: true, by: "password", address: null },
    { ...times, isThis: false, by: null, address: null },
    { ...times, isThis: false, by: "link", address: "198.51.100.7" },
  ]);
});

it("logs out all other sessions of this person at once, with one audit log entry", async () => {
  const ada = await host.addMember("viewer");
  const bo = await host.addMember("viewer");
  const elsewhere = [await logInElsewhere(ada.id), await logInElsewhere(ada.id)];
  const end = () => host.send("/sessions/end-others", { cookie: ada.cookie, body: {} });
  expect((await end()).json()).toEqual({ ended: 2 });
  expect(await Promise.all(elsewhere.map(statusOf))).toEqual([401, 401]);
  expect([await statusOf(ada.cookie), await statusOf(bo.cookie)]).toEqual([200, 200]);
  expect((await end()).json()).toEqual({ ended: 0 });
  const { entries } = (await host.send(`/audit?actor=${encodeURIComponent(ada.email)}`)).json();
  expect(entries.filter(({ action }: { action: string }) => action === "sessions.ended")).toMatchObject([
    { actor: ada.email, target: ada.id, details: { ended: 2 } },
  ]);
});

it("counts the console's browsers as the console's own", async () => {
  const other = await host.logIn();
  const person = await host.addMember("owner");
  expect((await host.send("/sessions/end-others", { body: {} })).json()).toEqual({ ended: 1 });
  expect([await statusOf(other), await statusOf(person.cookie)]).toEqual([401, 200]);
});
