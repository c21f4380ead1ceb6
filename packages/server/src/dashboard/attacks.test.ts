import { operations } from "@emend/contract";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { type DashboardRoute, listRoutes, pathOf } from "@emend/testkit/list-routes.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { acceptLink, ensureOwnerLink } from "../accounts/people/login-links.ts";
import { apiPrefix } from "./plugin.ts";

let host: DashboardApi;
let routes: DashboardRoute[];
beforeAll(async () => {
  host = await startDashboard();
  routes = listRoutes(host);
});
afterAll(() => host.close());

const bare = (cookie: string | undefined) => cookie?.split(";", 1)[0] ?? "";
const slack = "https://hooks.slack.com/services/T0000/B0000/abcdefghijklmnopWXYZ";
const rowOf = async (id: string) =>
  (await host.api.pool.query("select role, password_hash as hash from users where id = $1", [id])).rows[0];

describe("a page of another site", () => {
  it.each<[string, Record<string, string | undefined>]>([
    ["its own origin", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    ["an origin that begins like ours", { origin: "https://emend.test.evil.example", "sec-fetch-site": undefined }],
    ["our host by another port", { origin: "https://emend.test:8443", "sec-fetch-site": undefined }],
    ["our host without TLS", { origin: "http://emend.test", "sec-fetch-site": undefined }],
    ["the origin of a sandboxed frame", { origin: "null", "sec-fetch-site": "cross-site" }],
    ["no origin", { origin: undefined, "sec-fetch-site": undefined }],
    ["our origin from a sibling's page", { "sec-fetch-site": "same-site" }],
    ["our origin from nowhere", { "sec-fetch-site": "none" }],
  ])("writes nothing by an owner's cookie: %s, at every route", async (_by, headers) => {
    const owner = await host.addMember("owner");
    const letIn: string[] = [];
    for (const route of routes.filter(({ method }) => method !== "GET")) {
      const method = route.method as "POST";
      const answer = await host.send(pathOf(route), { method, cookie: owner.cookie, body: {}, headers });
      if (answer.statusCode !== 403) letIn.push(`${route.method} ${route.url}: ${answer.statusCode}`);
    }
    expect(letIn).toEqual([]);
    expect((await host.send("/session", { cookie: owner.cookie })).statusCode).toBe(200);
  });

  it("writes nothing by a method in a header or by a form, and reads nothing by CORS", async () => {
    const { id, cookie } = await host.addMember("owner");
    const sent = { method: "GET" as const, cookie, headers: { "x-http-method-override": "POST" } };
    expect((await host.send(`/members/${id}/remove`, sent)).statusCode).toBe(405);
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const headers = { "content-type": type };
      expect((await host.send("/invitations", { cookie, body: {}, headers })).statusCode).toBe(415);
    }
    const asked = await host.send("/session", { cookie, headers: { origin: "https://evil.example" } });
    expect(Object.keys(asked.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });
});

describe("every answer", () => {
  it("of the dashboard is not cached, and its type is not sniffed", async () => {
    const viewer = await host.addMember("viewer");
    const wrong: string[] = [];
    for (const route of routes) {
      for (const cookie of [viewer.cookie, null]) {
        const isWrite = route.method !== "GET";
        const request = { method: route.method as "GET", cookie, ...(isWrite && { body: "no JSON" }) };
        const { headers } = await host.send(pathOf(route), request);
        const isRight = headers["cache-control"] === "no-store" && headers["x-content-type-options"] === "nosniff";
        if (!isRight) wrong.push(`${route.method} ${route.url}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("to HEAD asks for the role that GET does", async () => {
    const viewer = await host.addMember("viewer");
    for (const path of ["/members", "/settings", "/audit", "/audit.csv"]) {
      const answer = await host.api.send(`${apiPrefix}${path}`, { method: "HEAD", headers: { cookie: viewer.cookie } });
      expect(answer.status).toBe(403);
    }
  });

  it("of the app cannot be framed, and loads nothing from other origins", async () => {
    const page = await host.api.send("/app/keys");
    expect(page.headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "x-frame-options": "DENY",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
    });
  });
});

describe("a body that says more than it may", () => {
  it("does not set another person's password or open their session", async () => {
    const owner = await host.addMember("owner");
    const { cookie, email } = await host.addMember("viewer");
    const body = { userId: owner.id, current: null, next: "a long new password", email: owner.email, role: "owner" };
    const answer = await host.send("/password", { cookie, body });
    expect((await rowOf(owner.id)).hash).toBeNull();
    const session = await host.send("/session", { cookie: bare(answer.headers["set-cookie"]?.[0]) });
    expect(session.json()).toMatchObject({ subject: email, role: "viewer" });
  });

  it("does not make an invited viewer an owner, or change an email address", async () => {
    const { link } = (await host.send("/invitations", { body: { email: "vi@x.test", role: "viewer" } })).json();
    const token = link.slice(link.lastIndexOf("/") + 1);
    const body = {
      token,
      email: "boss@x.test",
      name: "Vi",
      password: "a long password",
      role: "owner",
      userId: "usr_1",
    };
    const accepted = await host.send("/auth/accept", { cookie: null, body });
    expect(accepted.statusCode).toBe(201);
    const session = await host.send("/session", { cookie: bare(accepted.headers["set-cookie"]?.[0]) });
    expect(session.json()).toMatchObject({ subject: "vi@x.test", role: "viewer" });
  });

  it("creates keys, webhooks and model keys for the project in the URL, in the caller's name", async () => {
    const { cookie, email } = await host.addMember("maintainer");
    const [one, other] = [await host.api.addProject(), await host.api.addProject()];
    const key = { name: "k", projectIds: [one.id], scope: "read", expiresInDays: 1, allowList: null };
    await host.send("/keys", { cookie, body: { ...key, createdBy: "console", id: "key_x", expiresInMs: null } });
    const { keys } = (await host.send("/keys")).json();
    expect(keys.find(({ name }: { name: string }) => name === "k")).toMatchObject({ createdBy: email });
    const hook = { url: slack, format: "slack", events: ["job.failed"], projectId: one.id, id: "whk_x" };
    expect((await host.send("/operations/webhooks.add", { cookie, body: hook })).statusCode).toBe(200);
    const model = { vendor: "openai", key: "sk-x", projectId: other.id };
    expect((await host.send(`/projects/${one.id}/model-keys`, { cookie, body: model })).statusCode).toBe(200);
    const { rows } = await host.api.pool.query(
      "select project_id as id from webhooks union all select project_id from model_keys",
    );
    expect(rows).toEqual([{ id: one.id }, { id: one.id }]);
    const edit = { repositoryUrl: "https://evil.example/a/b", forge: "gitlab", id: other.id, quota: 1e9 };
    await host.send(`/projects/${one.id}`, { method: "PATCH", cookie, body: { name: "New", ...edit } });
    const { projects } = (await host.send("/projects")).json();
    const edited = projects.find(({ id }: { id: string }) => id === one.id);
    expect(edited).toMatchObject({ name: "New", forge: "github" });
    expect(edited.repositoryUrl).not.toContain("evil");
  });
});

describe("a hostile viewer", () => {
  it("reads no secret at any route", async () => {
    const { cookie } = await host.addMember("viewer");
    const { id } = await host.api.addProject();
    const made = await host.send("/operations/webhooks.add", {
      body: { projectId: id, url: slack, format: "slack", events: ["job.failed"] },
    });
    await host.send(`/projects/${id}/model-keys`, { body: { vendor: "openai", key: "sk-canary-of-the-model" } });
    const body = { name: "canary", projectIds: [id], scope: "write", expiresInDays: null, allowList: null };
    const { key } = (await host.send("/keys", { body })).json();
    const secrets = ["abcdefghijklmnop", made.json().secret, "sk-canary-of-the-model", key, bare(cookie).slice(13)];
    const seen: string[] = [];
    for (const route of routes.filter(({ method, url }) => method === "GET" && !url.endsWith("/stream"))) {
      const path = route.url.replace(/^\/projects\/:\w+(\|:\w+)*/, `/projects/${id}`);
      const answer = await host.send(pathOf({ ...route, url: path }), { cookie });
      for (const secret of secrets) if (answer.body.includes(secret)) seen.push(`${route.url} ${secret}`);
    }
    for (const name of Object.keys(operations)) {
      const body = { projectId: id, id: made.json().id };
      const answer = await host.send(`/operations/${name}`, { cookie, body });
      for (const secret of secrets) if (answer.body.includes(secret)) seen.push(`${name} ${secret}`);
    }
    expect(seen).toEqual([]);
    const list = await host.send("/operations/webhooks.list", { cookie, body: { projectId: id } });
    expect(list.json().webhooks[0].url).toBe("https://hooks.slack.com/…WXYZ");
  });
});

describe("a session that somebody planted", () => {
  it("is not the one that a login, an invitation or a new password opens", async () => {
    const { pool } = host.api;
    const planted = await host.addMember("viewer");
    const { link } = (await host.send("/invitations", { body: { email: "fix@x.test", role: "owner" } })).json();
    const body = { token: link.slice(link.lastIndexOf("/") + 1), name: "F", password: "a long password" };
    const accepted = await host.send("/auth/accept", { cookie: planted.cookie, body });
    const opened = bare(accepted.headers["set-cookie"]?.[0]);
    expect(opened).not.toBe(planted.cookie);
    expect((await host.send("/session", { cookie: planted.cookie })).statusCode).toBe(401);
    const junk = `__Host-emend=${"A".repeat(43)}`;
    const again = await host.send("/auth/login", {
      cookie: junk,
      body: { email: "fix@x.test", password: body.password },
    });
    expect(bare(again.headers["set-cookie"]?.[0])).not.toBe(junk);
    expect((await host.send("/session", { cookie: junk })).statusCode).toBe(401);
    for (const cookie of [...(accepted.headers["set-cookie"] ?? []), ...(again.headers["set-cookie"] ?? [])]) {
      expect(cookie).toMatch(/; Path=\/; Secure; HttpOnly; SameSite=Lax$/);
    }
    const { rows } = await pool.query<{ all: string }>("select sessions::text as all from sessions");
    expect(rows.map((row) => row.all).join()).not.toContain(opened.slice("__Host-emend=".length));
  });
});

describe("two at once", () => {
  it("of concurrent requests with the owner link, one succeeds", async () => {
    const empty = await startDashboard();
    try {
      const { pool } = empty.api;
      const secret = "a secret of the tests, and of nothing else";
      const link =
        (await ensureOwnerLink({ pool, secret, publicUrl: "https://emend.test/base" }, { isNew: false })) ?? "";
      const passwords = { hash: async () => "scrypt$1$1$1$x$x", isRight: async () => false };
      const claims = Array.from({ length: 8 }, (_, index) =>
        acceptLink(
          { pool, passwords },
          {
            token: link.slice(link.lastIndexOf("/") + 1),
            email: `person-${index}@x.test`,
            name: "P",
            password: "a long password",
            address: "198.51.100.1",
            replaces: null,
          },
        ),
      );
      expect((await Promise.all(claims)).filter(({ kind }) => kind === "logged_in")).toHaveLength(1);
      expect((await pool.query("select from users where role = 'owner'")).rowCount).toBe(1);
    } finally {
      await empty.close();
    }
  });
});
