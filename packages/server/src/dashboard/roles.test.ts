import { readFile } from "node:fs/promises";
import { operations } from "@emend/contract";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { type DashboardRoute, listRoutes, pathOf } from "@emend/testkit/list-routes.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Role, roles } from "../accounts/people/user.ts";

let host: DashboardApi;
let routes: DashboardRoute[];
beforeAll(async () => {
  host = await startDashboard();
  routes = listRoutes(host);
});
afterAll(() => host.close());

/** Routes that differ from the rule: GET for viewers, everything else for maintainers. */
const exceptions: Readonly<Record<string, Role | "everybody">> = {
  "GET /auth": "everybody",
  "POST /auth/login": "everybody",
  "POST /auth/second-step": "everybody",
  "POST /auth/passkey/begin": "everybody",
  "POST /auth/passkey": "everybody",
  "POST /auth/set-up/authenticator-app/begin": "everybody",
  "POST /auth/set-up/authenticator-app": "everybody",
  "POST /auth/set-up/passkey/begin": "everybody",
  "POST /auth/set-up/passkey": "everybody",
  "POST /auth/link": "everybody",
  "POST /auth/accept": "everybody",
  "POST /session/end": "viewer",
  "POST /password": "viewer",
  "POST /notifications": "viewer",
  "POST /sessions/end-others": "viewer",
  "POST /factors/prove": "viewer",
  "POST /factors/authenticator-app/begin": "viewer",
  "POST /factors/authenticator-app/confirm": "viewer",
  "POST /factors/authenticator-app/remove": "viewer",
  "POST /factors/recovery-codes": "viewer",
  "POST /factors/passkeys/begin": "viewer",
  "POST /factors/passkeys": "viewer",
  "POST /factors/passkeys/:id/rename": "viewer",
  "POST /factors/passkeys/:id/remove": "viewer",
  "POST /factors/prove/passkey/begin": "viewer",
  "POST /factors/prove/passkey": "viewer",
  // Shows how a prompt would be parsed. It writes nothing.
  "POST /projects/:id|:projectId/reading": "viewer",
  // Of a program that this person connected.
  "POST /keys/:id/revoke": "viewer",
  // Both change only what this person sees.
  "POST /inbox/dismiss": "viewer",
  "POST /pulls/:projectId/:number/viewed": "viewer",
  ...Object.fromEntries(Object.entries(operations).map(([name, { access }]) => [`POST /operations/${name}`, access])),
  "GET /members": "owner",
  "POST /members/:id/role": "owner",
  "POST /members/:id/remove": "owner",
  "POST /invitations": "owner",
  "POST /invitations/:id/revoke": "owner",
  "GET /directory": "owner",
  "PATCH /directory": "owner",
  "POST /directory/people/:id/connect": "owner",
  "POST /directory/tokens": "owner",
  "POST /directory/tokens/:id/revoke": "owner",
  "GET /settings": "owner",
  "PATCH /settings": "owner",
  "POST /projects/:id|:projectId/remove": "owner",
  "GET /github-apps": "owner",
  "POST /github-apps": "owner",
  "POST /github-apps/:id/manifest": "owner",
  "POST /github-apps/:id/remove": "owner",
  "POST /github-apps/created": "owner",
  "GET /status": "owner",
  "POST /tasks/retry": "owner",
  "GET /audit": "owner",
  "GET /audit.csv": "owner",
};

function neededFor({ method, url }: DashboardRoute): Role | "everybody" {
  return exceptions[`${method} ${url}`] ?? (method === "GET" ? "viewer" : "maintainer");
}

async function statusFor(route: DashboardRoute, cookie: string | null): Promise<number> {
  const isWrite = route.method !== "GET";
  // A body that every route refuses: an allowed caller gets 400, and nothing changes.
  const request = { method: route.method as "GET", cookie, ...(isWrite && { body: "no JSON" }) };
  return (await host.send(pathOf(route), request)).statusCode;
}

it("finds the routes", () => {
  expect(routes.map(({ method, url }) => `${method} ${url}`)).toEqual(
    expect.arrayContaining([
      "GET /jobs",
      "POST /keys",
      "GET /projects",
      ...Object.keys(exceptions).filter((route) => !route.includes("|")),
    ]),
  );
  expect(routes.length).toBeGreaterThan(30);
});

it("docs/people.md names what viewers cannot read", async () => {
  const page = await readFile(new URL("../../../../docs/people.md", import.meta.url), "utf8");
  const viewers = page.split("\n").find((line) => line.startsWith("| viewer |")) ?? "";
  const hidden = routes.filter((route) => route.method === "GET" && neededFor(route) === "owner");
  const named = hidden.map(({ url }) => url.replace(/^\/|\.csv$/g, "").replaceAll("-", " "));
  expect(named.filter((name) => !viewers.toLowerCase().includes(name))).toEqual([]);
});

it("each route allows exactly the roles it should, and no request without a live session", async () => {
  const cookies = new Map<string, string | null>([["nobody", null]]);
  for (const role of roles) cookies.set(role, (await host.addMember(role)).cookie);
  const expired = await host.addMember("owner");
  await host.api.pool.query("update sessions set expires_at = clock_timestamp() where user_id = $1", [expired.id]);
  cookies.set("expired", expired.cookie);

  const wrong: string[] = [];
  // Log out last.
  for (const route of routes.toSorted((a, b) => Number(a.url === "/session/end") - Number(b.url === "/session/end"))) {
    const needed = neededFor(route);
    for (const [who, cookie] of cookies) {
      const status = await statusFor(route, cookie);
      const isIn = roles.includes(who as Role);
      const isLet = needed === "everybody" || (isIn && roles.indexOf(who as Role) >= roles.indexOf(needed));
      const isRight = isLet ? status !== 401 && status !== 403 : status === (isIn ? 403 : 401);
      if (!isRight) wrong.push(`${route.method} ${route.url} as ${who}: ${status}`);
    }
  }
  expect(wrong).toEqual([]);
});

it("tells a viewer nobody's address but their own", async () => {
  const viewer = await host.addMember("viewer");
  const maintainer = await host.addMember("maintainer");
  await host.api.pool.query("update users set name = 'N' where id = any ($1)", [[viewer.id, maintainer.id]]);
  const emails = async (cookie: string) =>
    (await host.send("/names", { cookie })).json().people.map(({ email }: { email: string }) => email);
  expect(await emails(viewer.cookie)).toEqual([viewer.email]);
  expect(await emails(maintainer.cookie)).toEqual(expect.arrayContaining([viewer.email, maintainer.email]));
});

it("gives a changed role and a removal at once", async () => {
  const { id, cookie } = await host.addMember("maintainer");
  expect((await host.send("/projects", { cookie, body: {} })).statusCode).toBe(400);
  await host.send(`/members/${id}/role`, { body: { role: "viewer" } });
  expect((await host.send("/projects", { cookie, body: {} })).statusCode).toBe(403);
  expect((await host.send("/projects", { cookie })).statusCode).toBe(200);
  await host.send(`/members/${id}/remove`, { body: {} });
  expect((await host.send("/projects", { cookie })).statusCode).toBe(401);
});
