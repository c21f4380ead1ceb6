import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createKey, newKey } from "../../server/src/accounts/keys/api-keys.ts";
import type { Role } from "../../server/src/accounts/people/user.ts";
import { openSession } from "../../server/src/accounts/sessions/session-store.ts";
import { setCookie } from "../../server/src/accounts/sessions/sessions.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import { newId } from "../../server/src/lib/id.ts";

const pem = (name: string) => fileURLToPath(new URL(`./certificates/localhost.${name}.pem`, import.meta.url));
/** For EMEND_CA_FILE. */
export const authorityFile = pem("cert");

export interface ProgramHost {
  /** The client id of a program whose metadata are these, by default a good one's. */
  add(metadata?: Readonly<Record<string, unknown>>): string;
  /** How often metadata was read. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export const redirectUri = "http://127.0.0.1:7777/callback";

/** Where programs publish what they are: https on loopback. */
export async function startProgramHost(): Promise<ProgramHost> {
  const documents = new Map<string, object>();
  const asked: string[] = [];
  const identity = { key: readFileSync(pem("key")), cert: readFileSync(pem("cert")) };
  const server = createServer(identity, (request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const document = documents.get(path);
    response.setHeader("content-type", "application/json");
    response.writeHead(document ? 200 : 404).end(JSON.stringify(document ?? {}));
  }).listen(0, "localhost");
  await new Promise((resolve) => server.once("listening", resolve));
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`;
  return {
    asked,
    add(metadata = {}) {
      const path = `/program-${documents.size + 1}.json`;
      const id = `${origin}${path}`;
      const usual = { client_id: id, client_name: "Sample Agent", redirect_uris: ["http://127.0.0.1/callback"] };
      documents.set(path, { ...usual, token_endpoint_auth_method: "none", ...metadata });
      return id;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A browser as far as these tests need one: it keeps cookies and follows no redirects. */
export interface Browser {
  get(url: string): Promise<Response>;
  /** As the dashboard's own page sends it, unless `headers` say otherwise. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Follows redirects on this server until the consent page, or until the program's address. */
  open(url: string): Promise<string>;
  cookies: Map<string, { value: string; path: string }>;
}

export function openBrowser(serverUrl: string, cookies: Browser["cookies"] = new Map()): Browser {
  async function send(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname } = new URL(url);
    const kept = [...cookies].filter(([, { path }]) => pathname.startsWith(path));
    const headers = { ...init.headers, cookie: kept.map(([name, { value }]) => `${name}=${value}`).join("; ") };
    const answer = await fetch(url, { ...init, headers, redirect: "manual" });
    for (const line of answer.headers.getSetCookie()) keep(line);
    return answer;
  }
  function keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? "/";
    if (value === "") cookies.delete(name);
    else cookies.set(name, { value, path });
  }
  return {
    cookies,
    get: (url) => send(url, { headers: { accept: "text/html" } }),
    post: (path, body, headers = {}) =>
      send(`${serverUrl}${path}`, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json", origin: new URL(serverUrl).origin, ...headers },
      }),
    async open(url) {
      let at = url;
      while (at.startsWith(serverUrl)) {
        const next = (await send(at, { headers: { accept: "text/html" } })).headers.get("location");
        if (next === null) return at;
        at = new URL(next, at).href;
        if (at.startsWith(`${serverUrl}/app`)) return at;
      }
      return at;
    },
  };
}

/** A person with a browser in which they are logged in. */
export async function logInPerson(
  pool: Pool,
  serverUrl: string,
  role: Role,
): Promise<{ id: string; email: string; browser: Browser }> {
  const id = newId("usr");
  const email = `${id.toLowerCase()}@example.com`;
  await pool.query("insert into users (id, email, name, role) values ($1, $2, 'Ada', $3)", [id, email, role]);
  const token = await openSession(pool, { userId: id, how: "password", address: null, replaces: null });
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(setCookie(serverUrl, token, 60)) ?? [];
  return { id, email, browser: openBrowser(serverUrl, new Map([[name, { value, path: "/" }]])) };
}

/** A request for authorization with PKCE, as programs send it. */
export function authorizationRequest(
  serverUrl: string,
  clientId: string,
  more: Readonly<Record<string, string | undefined>> = {},
): { url: string; verifier: string } {
  const verifier = randomBytes(32).toString("base64url");
  const given: Record<string, string | undefined> = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    scope: "read write",
    state: "a state of the program",
    resource: `${serverUrl}/mcp`,
    ...more,
  };
  const query = new URLSearchParams(
    Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  return { url: `${serverUrl}/oauth/authorize?${query}`, verifier };
}

/** What the browser's consent page does. Returns the program's address with the answer. */
export async function consentIn(
  browser: Browser,
  serverUrl: string,
  input: { projectId: string; scope: "read" | "write" },
): Promise<URL> {
  const page = await browser.get(`${serverUrl}/dashboard/api/connect`);
  const { asked } = (await page.json()) as { asked: { id: string } | null };
  const answer = await browser.post("/dashboard/api/connect", { id: asked?.id, ...input });
  const { location = "", error } = (await answer.json()) as { location?: string; error?: string };
  if (error) throw new Error(error);
  return new URL(await browser.open(location));
}

/** The token of a program that this person connected, without its journey through a browser. */
export async function connectProgram(pool: Pool, projectId: string, userId: string): Promise<string> {
  const shared = { projectIds: [projectId], scope: "write", expiresInMs: null, allowList: null } as const;
  const program = { userId, clientId: "https://agent.example.com/client.json" };
  const made = await createKey(pool, { ...shared, name: "Sample Agent", createdBy: "bo@example.com", program });
  const token = newKey();
  await pool.query(
    `insert into oauth_records (id, model, key_id, secret_hash, payload, expires_at)
     values ($1, 'AccessToken', $2, sha256($3), '{}', now() + interval '1 hour')`,
    [token.id, "id" in made ? made.id : "", Buffer.from(token.secret)],
  );
  return token.text;
}
