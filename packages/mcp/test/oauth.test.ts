// Costly: each attack begins with the same connection to a whole server, and differs in one step of it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DashboardKey } from "@emend/contract";
import { freePort } from "@emend/testkit/listen.ts";
import {
  authorityFile,
  authorizationRequest,
  type Browser,
  consentIn,
  logInPerson,
  openBrowser,
  type ProgramHost,
  redirectUri,
  startProgramHost,
} from "@emend/testkit/oauth-program.ts";
import { createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";

// The official clients' own OAuth flow, and attacks on it, with a whole server and Postgres.
let installation: Installation;
let host: ProgramHost;
let url: string;
/** A second process of the same installation. */
let otherNode: string;
let projectId: string;
let otherId: string;
beforeAll(async () => {
  host = await startProgramHost();
  const port = await freePort();
  // Below a path, as behind some proxies.
  url = `http://127.0.0.1:${port}/emend`;
  installation = await createInstallation({
    EMEND_CA_FILE: authorityFile,
    EMEND_ALLOW_PRIVATE_PROGRAMS: "true",
    EMEND_PUBLIC_URL: url,
  });
  const server = await installation.start({ port });
  const otherPort = await freePort();
  await installation.start({ port: otherPort });
  otherNode = `http://127.0.0.1:${otherPort}/emend`;
  const docs = await installation.makeDocs({
    "index.md": "# Docs\n\nSee [guide](guide.md).\n",
    "guide.md": "# Guide\n",
  });
  projectId = (await server.admin.addProject({ name: "Docs", forge: "local", repo: docs })).id;
  otherId = (await server.admin.addProject({ name: "Other", forge: "local", repo: docs })).id;
});
afterAll(async () => {
  await installation.remove();
  await host.close();
});

const pool = () => installation.database.pool;

/** What a program keeps, as the official clients ask for it. */
function programOf(clientId: string) {
  let tokens: unknown;
  let verifier = "";
  let client: unknown;
  let discovery: unknown;
  let sentTo: URL | undefined;
  const provider = {
    redirectUrl: redirectUri,
    clientMetadataUrl: clientId,
    clientMetadata: { redirect_uris: [redirectUri], client_name: "Sample Agent" },
    clientInformation: () => client,
    saveClientInformation(known: unknown) {
      client = known;
    },
    tokens: () => tokens,
    saveTokens(given: unknown) {
      tokens = given;
    },
    redirectToAuthorization(to: URL) {
      sentTo = to;
    },
    saveCodeVerifier(text: string) {
      verifier = text;
    },
    codeVerifier: () => verifier,
    discoveryState: () => discovery,
    saveDiscoveryState(found: unknown) {
      discovery = found;
    },
    invalidateCredentials() {
      tokens = undefined;
    },
  };
  return {
    provider: provider as unknown as OAuthClientProvider,
    get sentTo() {
      return sentTo?.href ?? "";
    },
    get tokens() {
      return tokens as { access_token: string; refresh_token: string; scope: string };
    },
  };
}

async function exchange(body: Record<string, string>, path = "/oauth/token") {
  const answer = await fetch(`${url}${path}`, { method: "POST", body: new URLSearchParams(body) });
  const text = await answer.text();
  return { status: answer.status, json: text === "" ? {} : JSON.parse(text) };
}

/** A program that somebody connected, without the official client. */
async function connect(
  input: { role?: "viewer" | "maintainer" | "owner"; scope?: "read" | "write"; projectId?: string } = {},
) {
  const person = await logInPerson(pool(), url, input.role ?? "maintainer");
  const clientId = host.add();
  const request = authorizationRequest(url, clientId);
  expect(await person.browser.open(request.url)).toBe(`${url}/app/connect`);
  const given = { projectId: input.projectId ?? projectId, scope: input.scope ?? "write" };
  const back = await consentIn(person.browser, url, given);
  const redeem = {
    grant_type: "authorization_code",
    code: back.searchParams.get("code") ?? "",
    client_id: clientId,
    redirect_uri: redirectUri,
    code_verifier: request.verifier,
  };
  return { person, clientId, back, redeem };
}

async function connected(input: Parameters<typeof connect>[0] = {}) {
  const made = await connect(input);
  const { status, json } = await exchange(made.redeem);
  expect(status).toBe(200);
  const refresh = () =>
    exchange({ grant_type: "refresh_token", refresh_token: json.refresh_token, client_id: made.clientId });
  return { ...made, token: json.access_token as string, refreshToken: json.refresh_token as string, refresh };
}

async function askedOf(browser: Browser): Promise<{ id: string; name: string } | null> {
  return (
    (await (await browser.get(`${url}/dashboard/api/connect`)).json()) as { asked: { id: string; name: string } | null }
  ).asked;
}

async function jobsWith(token: string, id = projectId): Promise<number> {
  const answer = await fetch(`${url}/v2/agent/${id}/jobs`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
}

describe.each([
  ["2026-07-28", () => new Client({ name: "sample", version: "1.0.0" }), StreamableHTTPClientTransport],
  ["2025-11-25 and older", () => new OldClient({ name: "sample", version: "1.0.0" }), OldTransport],
])("the official client of the protocol %s", (_era, newClient, Transport) => {
  it("connects a program without a key: a person consents, the program works, and loses access when revoked", async () => {
    const { browser, email } = await logInPerson(pool(), url, "maintainer");
    const program = programOf(host.add());
    const transport = () => new Transport(new URL(`${url}/mcp`), { authProvider: program.provider as never });
    const first = transport();
    await expect(newClient().connect(first as never)).rejects.toThrow(/unauthorized/i);
    expect(await browser.open(program.sentTo)).toBe(`${url}/app/connect`);
    expect(await askedOf(browser)).toMatchObject({
      name: "Sample Agent",
      clientHost: expect.stringMatching(/^localhost:\d+$/),
      returnsTo: "127.0.0.1:7777",
      scope: "write",
      mayWrite: true,
    });
    const back = await consentIn(browser, url, { projectId, scope: "write" });
    expect(back.href.startsWith(redirectUri)).toBe(true);
    if (first instanceof OldTransport) await first.finishAuth(back.searchParams.get("code") ?? "");
    else await first.finishAuth(back.searchParams);
    expect(program.tokens.scope).toBe("read write");

    const { access_token } = program.tokens;
    const client = newClient();
    await client.connect(transport() as never);
    const projects = await client.callTool({ name: "list_projects", arguments: {} });
    expect(projects.structuredContent).toEqual({ projects: [expect.objectContaining({ id: projectId })] });
    const job = await client.callTool({
      name: "create_job",
      arguments: { prompt: "Rename guide to handbook.", preview: true },
    });
    expect(job).toMatchObject({ structuredContent: { job: { status: expect.any(String) } } });

    const { keys } = (await (await browser.get(`${url}/dashboard/api/keys`)).json()) as {
      keys: { id: string; createdBy: string; clientId: string; revokedAt: null; lastUsedAt: string }[];
    };
    const key = keys.find(({ createdBy }) => createdBy === email);
    expect(key).toMatchObject({
      name: "Sample Agent",
      scope: "write",
      projectIds: [projectId],
      lastUsedAt: expect.any(String),
    });
    expect(
      (
        await browser.post(`/dashboard/api/keys/${key?.id}/rotate`, {
          name: "x",
          projectIds: [projectId],
          scope: "write",
          expiresInDays: 1,
          allowList: null,
          overlapDays: 0,
        })
      ).status,
    ).toBe(404);
    expect((await browser.post(`/dashboard/api/keys/${key?.id}/revoke`, {})).status).toBe(200);
    await expect(client.callTool({ name: "list_projects", arguments: {} })).rejects.toThrow();
    expect(await jobsWith(access_token)).toBe(401);
    await client.close();
  });
});

const invalid = (error: string) => ({ status: 400, json: expect.objectContaining({ error }) });

describe("an authorization code", () => {
  it("is redeemed by any node, once, also by two at the same time; a second use ends the connection", async () => {
    const { redeem, refresh, token } = await connected();
    expect(await jobsWith(token)).toBe(200);
    expect(await exchange(redeem)).toEqual(invalid("invalid_grant"));
    expect(await jobsWith(token)).toBe(401);
    expect(await refresh()).toEqual(invalid("invalid_grant"));

    const raced = await connect();
    const body = new URLSearchParams(raced.redeem);
    const send = (node: string) => fetch(`${node}/oauth/token`, { method: "POST", body });
    const answers = await Promise.all([send(url), send(otherNode), send(url), send(otherNode)]);
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThan(2);
    // Whoever was first may be the thief.
    for (const answer of given) {
      const { access_token } = (await answer.json()) as { access_token: string };
      expect(await jobsWith(access_token)).toBe(401);
    }
    const { rows } = await pool().query("select revoked_at from admin_keys where client_id = $1", [raced.clientId]);
    expect(rows).toEqual([{ revoked_at: expect.any(Date) }]);
  });

  it.each([
    ["another verifier", { code_verifier: "x".repeat(43) }],
    ["no verifier", { code_verifier: "" }],
    ["another address", { redirect_uri: "http://127.0.0.1:7778/callback" }],
    ["another code", { code: "x".repeat(43) }],
  ])("is worth nothing with %s", async (_with, wrong) => {
    const { redeem } = await connect();
    expect((await exchange({ ...redeem, ...wrong })).status).toBe(400);
    expect((await exchange(redeem)).status).toBe(200);
  });

  it("is worth nothing for another program", async () => {
    const theirs = await connected();
    const { redeem } = await connect();
    expect(await exchange({ ...redeem, client_id: theirs.clientId })).toEqual(invalid("invalid_grant"));
    const stolen = { grant_type: "refresh_token", refresh_token: theirs.refreshToken, client_id: redeem.client_id };
    expect(await exchange(stolen)).toEqual(invalid("invalid_grant"));
  });
});

describe("a program's request", () => {
  it.each([
    ["another path", "http://127.0.0.1:7777/other"],
    ["another host", "https://evil.example/callback"],
    ["a host that begins like the right one", "http://127.0.0.1.evil.example/callback"],
    ["credentials in the address", "http://user@127.0.0.1:7777/callback"],
    ["a script", "javascript:alert(1)"],
  ])("with %s to return to is shown to the person, and goes nowhere", async (_what, redirect_uri) => {
    const { browser } = await logInPerson(pool(), url, "owner");
    const answer = await browser.get(authorizationRequest(url, host.add(), { redirect_uri }).url);
    expect(answer.status).toBe(400);
    expect(answer.headers.get("location")).toBeNull();
    expect(await answer.text()).toContain("The program is not connected");
    expect(await askedOf(browser)).toBeNull();
  });

  it.each([
    ["no challenge", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
    ["a plain challenge", { code_challenge_method: "plain" }, "invalid_request"],
    ["a token at once", { response_type: "token" }, "unsupported_response_type"],
    ["another server's tokens", { resource: "https://elsewhere.example/mcp" }, "invalid_target"],
  ])("with %s is refused before anybody is asked", async (_what, more, error) => {
    const { browser } = await logInPerson(pool(), url, "owner");
    const answer = await browser.get(authorizationRequest(url, host.add(), more).url);
    const back = new URL(answer.headers.get("location") ?? "");
    expect(back.href.startsWith(redirectUri)).toBe(true);
    expect(new URLSearchParams(back.search || back.hash.slice(1)).get("error")).toBe(error);
    expect(await askedOf(browser)).toBeNull();
  });

  it("of somebody who is not logged in waits for the login, and asks no program's address for anything", async () => {
    const before = host.asked.length;
    const { url: asked } = authorizationRequest(url, host.add());
    const stranger = openBrowser(url);
    const page = new URL(await stranger.open(asked));
    expect(page.pathname).toBe("/emend/app/connect");
    expect(page.searchParams.get("to")).toBe(new URL(asked).search.slice(1));
    const unknown = { grant_type: "refresh_token", refresh_token: "x", client_id: host.add() };
    expect((await exchange(unknown)).json).toMatchObject({ error: "invalid_client" });
    expect((await exchange({ token: "x", client_id: host.add() }, "/oauth/revoke")).json).toMatchObject({
      error: "invalid_client",
    });
    expect((await stranger.get(`${url}/dashboard/api/connect`)).status).toBe(401);
    expect(host.asked.length).toBe(before);
    expect(
      (
        await pool().query(
          "select 1 from oauth_records where model = 'Interaction' and payload #>> '{params,client_id}' = $1",
          [unknown.client_id],
        )
      ).rowCount,
    ).toBe(0);
  });

  it("is described by its own document only: not by another's, with a secret, or with HTML for a name", async () => {
    const { browser } = await logInPerson(pool(), url, "owner");
    for (const metadata of [
      { client_id: "https://localhost/other.json" },
      { client_secret: "x" },
      { redirect_uris: ["javascript:alert(1)"] },
    ]) {
      expect((await browser.get(authorizationRequest(url, host.add(metadata)).url)).status).toBe(400);
    }
    const name = "<script>alert(1)</script>\u202e\n".padEnd(300, "x");
    await browser.open(authorizationRequest(url, host.add({ client_name: name })).url);
    const asked = await askedOf(browser);
    expect(asked?.name).toMatch(/^<script>alert\(1\)<\/script> ?x+$/);
    expect(asked?.name.length).toBeLessThanOrEqual(100);
  });
});

describe("consent", () => {
  it("counts from the dashboard's own page only (CSRF)", async () => {
    const { person, input } = await askedPerson();
    for (const [name, value] of [
      ["origin", "https://evil.example"],
      ["origin", "null"],
      ["sec-fetch-site", "cross-site"],
    ]) {
      const forged = await person.browser.post("/dashboard/api/connect", input, { [name ?? ""]: value ?? "" });
      expect(forged.status).toBe(403);
    }
    expect((await person.browser.post("/dashboard/api/connect", input)).status).toBe(200);
  });

  it("counts in the browser that was asked only, and for the program that was shown", async () => {
    const attacker = await askedPerson();
    const victim = await logInPerson(pool(), url, "owner");
    // The attacker's request, by somebody who never opened it.
    expect((await victim.browser.post("/dashboard/api/connect", attacker.input)).status).toBe(409);
    // Another program asks while the page of the first is open.
    const shown = await askedPerson();
    await shown.person.browser.open(authorizationRequest(url, host.add({ client_name: "Other" })).url);
    expect((await shown.person.browser.post("/dashboard/api/connect", shown.input)).status).toBe(409);
    const refused = await shown.person.browser.post("/dashboard/api/connect/refuse", { id: shown.input.id });
    expect(refused.status).toBe(409);
  });

  it("can be refused, which the program learns", async () => {
    const { person, input } = await askedPerson();
    const answer = await person.browser.post("/dashboard/api/connect/refuse", { id: input.id });
    const { location } = (await answer.json()) as { location: string };
    const back = new URL(await person.browser.open(location));
    expect(back.href.startsWith(redirectUri)).toBe(true);
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: "access_denied",
      state: "a state of the program",
      iss: url,
    });
  });

  it("gives a viewer's program, and one that asked to read, no more than reading; and nobody's more than a project that exists", async () => {
    const viewer = await askedPerson("viewer");
    expect((await viewer.person.browser.post("/dashboard/api/connect", viewer.input)).status).toBe(403);
    const reader = await askedPerson("owner", { scope: "read" });
    expect((await reader.person.browser.post("/dashboard/api/connect", reader.input)).status).toBe(400);
    const lost = await askedPerson();
    expect(
      (await lost.person.browser.post("/dashboard/api/connect", { ...lost.input, projectId: "prj_none" })).status,
    ).toBe(404);
  });

  it("can be taken back by the person who gave it, a viewer too; viewers take nobody else's back", async () => {
    const [own, other] = [await connected({ role: "viewer", scope: "read" }), await connected()];
    const listed = await own.person.browser.get(`${url}/dashboard/api/keys`);
    const { keys } = (await listed.json()) as { keys: DashboardKey[] };
    const keyOf = ({ clientId }: { clientId: string }) => keys.find((key) => key.clientId === clientId);
    expect(keyOf(own)).toMatchObject({ isMine: true });
    expect(keyOf(other)).toMatchObject({ isMine: false });
    const revoke = (id: string) => own.person.browser.post(`/dashboard/api/keys/${id}/revoke`, {});
    expect((await revoke(keyOf(other)?.id ?? "")).status).toBe(403);
    expect(await jobsWith(other.token)).toBe(200);
    expect((await revoke(keyOf(own)?.id ?? "")).status).toBe(200);
    await expect.poll(() => jobsWith(own.token)).toBe(401);
  });

  it("is asked every time, and not of the console", async () => {
    const { person, clientId } = await connected();
    expect(await person.browser.open(authorizationRequest(url, clientId).url)).toBe(`${url}/app/connect`);
    await pool().query("update sessions set user_id = null where user_id = $1", [person.id]);
    const id = (await askedOf(person.browser))?.id;
    expect((await person.browser.post("/dashboard/api/connect", { id, projectId, scope: "read" })).status).toBe(409);
  });

  async function askedPerson(role: "viewer" | "owner" = "owner", more: Record<string, string> = {}) {
    const person: { browser: Browser; id: string } = await logInPerson(pool(), url, role);
    await person.browser.open(authorizationRequest(url, host.add(), more).url);
    const id = (await askedOf(person.browser))?.id ?? "";
    return { person, input: { id, projectId, scope: "write" } };
  }
});

describe("a token", () => {
  it("is for its project and rights, and not for git", async () => {
    const { token } = await connected({ scope: "read" });
    expect(await jobsWith(token)).toBe(200);
    expect(await jobsWith(token, otherId)).toBe(404);
    const write = await fetch(`${url}/v2/agent/${projectId}/job`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "Fix links." }),
    });
    expect(write.status).toBe(403);
    const basic = `Basic ${Buffer.from(`x:${token}`).toString("base64")}`;
    const git = `${url}/git/${projectId}.git/info/refs?service=git-upload-pack`;
    expect((await fetch(git, { headers: { authorization: basic } })).status).toBe(401);
  });

  it("is renewed with a new refresh token; the old one, used again, ends the connection", async () => {
    const first = await connected();
    const renewed = await first.refresh();
    expect(renewed).toMatchObject({ status: 200, json: { scope: "read write", token_type: "Bearer" } });
    expect(renewed.json.refresh_token).not.toBe(first.refreshToken);
    expect(await jobsWith(renewed.json.access_token)).toBe(200);
    expect(await first.refresh()).toEqual(invalid("invalid_grant"));
    expect(await jobsWith(renewed.json.access_token)).toBe(401);
    const raced = await connected();
    const answers = await Promise.all([raced.refresh(), raced.refresh(), raced.refresh(), raced.refresh()]);
    for (const { status, json } of answers) if (status === 200) expect(await jobsWith(json.access_token)).toBe(401);
    expect(await jobsWith(raced.token)).toBe(401);
  });

  it("ends by its time, by the program itself, by its key, by its person's role and with its person, on every node", async () => {
    const late = await connected();
    await pool().query(
      "update oauth_records set expires_at = clock_timestamp() where model = 'AccessToken' and key_id in (select id from admin_keys where user_id = $1)",
      [late.person.id],
    );
    expect(await jobsWith(late.token)).toBe(401);
    expect((await late.refresh()).status).toBe(200);

    const given = await connected();
    await exchange({ token: given.refreshToken, client_id: given.clientId }, "/oauth/revoke");
    expect(await jobsWith(given.token)).toBe(401);

    const revoked = await connected();
    await pool().query("update admin_keys set revoked_at = now() where user_id = $1", [revoked.person.id]);
    expect(await jobsWith(revoked.token)).toBe(401);
    expect(await revoked.refresh()).toEqual(invalid("invalid_grant"));

    const demoted = await connected();
    await pool().query("update users set role = 'viewer' where id = $1", [demoted.person.id]);
    const write = await fetch(`${otherNode}/v2/agent/${projectId}/job`, {
      method: "POST",
      headers: { authorization: `Bearer ${demoted.token}`, "content-type": "application/json" },
      body: JSON.stringify({ prompt: "Fix links." }),
    });
    expect(write.status).toBe(403);

    const removed = await connected();
    expect(await jobsWith(removed.token)).toBe(200);
    const owner = await logInPerson(pool(), url, "owner");
    expect((await owner.browser.post(`/dashboard/api/members/${removed.person.id}/remove`, {})).status).toBe(200);
    expect(await jobsWith(removed.token)).toBe(401);
    expect(await removed.refresh()).toEqual(invalid("invalid_grant"));
    const { keys } = (await (await owner.browser.get(`${url}/dashboard/api/keys`)).json()) as {
      keys: { createdBy: string; revokedAt: string | null }[];
    };
    expect(keys.find(({ createdBy }) => createdBy === removed.person.email)?.revokedAt).toEqual(expect.any(String));
    const { rows } = await pool().query(
      "select actor from audit_log where action = 'key.revoked' and details ->> 'name' = 'Sample Agent' order by at desc limit 1",
    );
    expect(rows).toEqual([{ actor: owner.email }]);
  });

  it("is nowhere in the database, and neither is a code or a refresh token", async () => {
    const { token, refreshToken, redeem } = await connected();
    const { rows } = await pool().query<{ all: string }>(
      "select oauth_records::text || admin_keys::text as all from oauth_records full join admin_keys on admin_keys.id = key_id",
    );
    const all = rows.map((row) => row.all).join("\n");
    for (const secret of [token, token.slice(18, 48), refreshToken, redeem.code]) {
      expect(all).not.toContain(secret);
      expect(all).not.toContain(Buffer.from(secret).toString("hex"));
    }
  });
});

test("the sample of docs/programs.md connects as it stands", async () => {
  const page = await readFile(new URL("../../../docs/programs.md", import.meta.url), "utf8");
  const [, code = ""] = /^```ts[^\n]*\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const file = join(installation.dir, "sample.mts");
  await writeFile(file, code);
  await symlink(join(import.meta.dirname, "..", "..", "..", "node_modules"), join(installation.dir, "node_modules"));
  const program = spawn(process.execPath, [file], {
    env: { ...process.env, EMEND_URL: url, CLIENT_ID: host.add() },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  const over = once(program, "exit");
  const { browser } = await logInPerson(pool(), url, "maintainer");
  for await (const chunk of program.stdout) {
    printed += chunk;
    const [, asked] = /^Open (\S+)\n$/.exec(printed) ?? [];
    if (asked === undefined) continue;
    await browser.open(asked);
    await fetch(await consentIn(browser, url, { projectId, scope: "read" }));
  }
  expect(await over).toEqual([0, null]);
  expect(JSON.parse(printed.split("\n")[1] ?? "")).toMatchObject({ projects: [{ id: projectId, name: "Docs" }] });
});

test("a program that describes itself on a private network is not asked (SSRF)", async () => {
  const strict = await createInstallation({ EMEND_CA_FILE: authorityFile });
  try {
    const { url } = await strict.start();
    const { browser } = await logInPerson(strict.database.pool, url, "owner");
    const before = host.asked.length;
    const good = host.add();
    const metadata = ["https://169.254.169.254/latest", "https://[::ffff:7f00:1]/x", "https://10.0.0.1/x"];
    for (const id of [good, good.replace("localhost", "127.0.0.1"), ...metadata]) {
      const answer = await browser.get(authorizationRequest(url, id).url);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("metadata document fetch failed");
    }
    expect(host.asked.length).toBe(before);
  } finally {
    await strict.remove();
  }
});
