import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Fetch } from "@emend/base/network.ts";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { type ApiClient, createApiClient } from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import type { Polling } from "../polling.ts";

/** What all functions for a GitHub repository share. */
export interface GithubRepository {
  api: ApiClient;
  /** For `/graphql`: an address of its own on Enterprise Server. */
  graph: ApiClient;
  owner: string;
  /** `/repos/<owner>/<name>`. */
  path: string;
  /** GitHub creates the commits. */
  signsCommits: boolean;
  /** For an App: its token's permissions. */
  permissions: TokenSource["permissions"];
}

/** The credential of a project that uses a GitHub App. */
const AppCredential = Type.Object({ appId: Type.String(), privateKey: Type.String() });

export interface AppIdentity {
  appId: string;
  privateKey: KeyObject;
}

interface InstallationToken {
  token: string;
  expiresAtMs: number;
  /** When GitHub last accepted it. */
  checkedAtMs: number;
  /** The permissions that GitHub granted. Null if this server does not say. */
  permissions: Readonly<Record<string, string>> | null;
}

export interface TokenSource {
  token(signal: AbortSignal): Promise<string>;
  /** A server refused this token, as after a reinstall: the next one is made anew. False: it was no App's. */
  drop(token: string): Promise<boolean>;
  /** For git, which cannot ask again: `check` makes a request if the token was not used successfully of late. */
  checked(check: () => Promise<unknown>, signal: AbortSignal): Promise<string>;
  /** Null if the credential is not an App: then the repository states its owner's permissions. */
  readonly permissions: ((signal: AbortSignal) => Promise<InstallationToken["permissions"]>) | null;
}

/** Installation tokens, shared by all jobs of a process. Each is valid for an hour. */
export type GithubTokens = Map<string, Promise<InstallationToken>>;

const clockSkewMs = 60_000;
const proofMs = 9 * 60_000;
/** Renewed early, so that a push that has started can finish. */
const renewBeforeMs = 10 * 60_000;
const checkedMsMax = 60_000;
/** The minimum that a job needs: read, push and open a pull request. Every token is limited to these. */
const tokenPermissions = { contents: "write", pull_requests: "write", metadata: "read" };
/**
 * For the gate's statuses, for answers on issues, and for the results and logs of CI. Older Apps do not have them, and a
 * request for a permission that was not granted is refused.
 */
const furtherPermissions = { statuses: "write", issues: "write", checks: "read", actions: "read" } as const;
/** A new App's permissions. */
export const appPermissions = { ...tokenPermissions, ...furtherPermissions };

/** A fine-grained token is used as it is. For an App, creates a token for this repository only. */
export function tokenSourceOf(input: {
  credential: string;
  fetch: Fetch;
  apiUrl: string;
  repositoryPath: string;
  tokens: GithubTokens;
}): TokenSource {
  const app = parseAppCredential(input.credential);
  if (!app) {
    const token = async () => input.credential;
    return { token, drop: async () => false, checked: token, permissions: null };
  }
  // Somebody who names another person's App without its key must not get the token that the key created.
  const keyId = createHash("sha256").update(input.credential).digest("hex");
  const key = `${input.apiUrl} ${keyId} ${input.repositoryPath}`;
  async function current(signal: AbortSignal): Promise<InstallationToken> {
    const known = await input.tokens.get(key)?.catch(() => undefined);
    if (known && known.expiresAtMs - Date.now() > renewBeforeMs) return known;
    const made = makeInstallationToken(input, app as AppIdentity, signal);
    input.tokens.set(key, made);
    // A failure is not cached.
    made.catch(() => input.tokens.delete(key));
    return made;
  }
  return {
    token: async (signal) => (await current(signal)).token,
    async drop(token) {
      const known = input.tokens.get(key);
      const made = await known?.catch(() => undefined);
      // Another request may have renewed it meanwhile.
      if (made?.token === token && input.tokens.get(key) === known) input.tokens.delete(key);
      return true;
    },
    async checked(check, signal) {
      const known = await current(signal);
      if (Date.now() - known.checkedAtMs > checkedMsMax) {
        await check();
        (await current(signal)).checkedAtMs = Date.now();
      }
      return (await current(signal)).token;
    },
    permissions: async (signal) => (await current(signal)).permissions,
  };
}

export function isAppCredential(credential: string): boolean {
  return credential.trimStart().startsWith("{");
}

export function parseAppCredential(credential: string): AppIdentity | null {
  if (!isAppCredential(credential)) return null;
  try {
    const parsed: unknown = JSON.parse(credential);
    if (!Value.Check(AppCredential, parsed)) throw new Error("fields are missing");
    return { appId: parsed.appId, privateKey: createPrivateKey(parsed.privateKey) };
  } catch (cause) {
    throw new ForgeFault("invalid_request", {
      publicMessage: "The GitHub App's credential needs appId and privateKey, the key as PEM.",
      cause,
    });
  }
}

async function makeInstallationToken(
  input: { fetch: Fetch; apiUrl: string; repositoryPath: string },
  app: AppIdentity,
  signal: AbortSignal,
): Promise<InstallationToken> {
  const api = openAppApi({ fetch: input.fetch, apiUrl: input.apiUrl }, app);
  const [, repository = ""] = input.repositoryPath.split("/");
  const installation = await api.call(
    {
      method: "GET",
      path: `/repos/${input.repositoryPath}/installation`,
      answer: Type.Object({
        id: Type.Integer(),
        permissions: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      }),
      what: "find its App's installation",
    },
    signal,
  );
  const granted = Object.entries(furtherPermissions).filter(([name, right]) =>
    [right, "write"].includes(String(installation.permissions?.[name])),
  );
  const made = await api.call(
    {
      method: "POST",
      path: `/app/installations/${installation.id}/access_tokens`,
      body: { repositories: [repository], permissions: { ...tokenPermissions, ...Object.fromEntries(granted) } },
      answer: Type.Object({
        token: Type.String(),
        expires_at: Type.String(),
        permissions: Type.Optional(Type.Record(Type.String(), Type.String())),
      }),
      what: "use its App",
    },
    signal,
  );
  const expiresAtMs = Date.parse(made.expires_at);
  return { token: made.token, expiresAtMs, checkedAtMs: Date.now(), permissions: made.permissions ?? null };
}

/** A client that acts as the App itself. */
export function openAppApi(deps: { fetch: Fetch; apiUrl: string }, app: AppIdentity): ApiClient {
  return createGithubClient({ ...deps, authorization: async () => `Bearer ${appProof(app)}` });
}

/** A JSON Web Token that identifies the App, dated back in case clocks differ. */
function appProof(app: AppIdentity): string {
  const nowMs = Date.now();
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iat: seconds(nowMs - clockSkewMs), exp: seconds(nowMs + proofMs), iss: app.appId };
  const text = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), app.privateKey).toString("base64url")}`;
}

const headers = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/** A client for GitHub's API, pinned to one API version. */
export function createGithubClient(input: {
  fetch: Fetch;
  apiUrl: string;
  authorization(signal: AbortSignal): Promise<string | null>;
  renew?(refused: string): Promise<boolean>;
  polling?: Polling;
}): ApiClient {
  return createApiClient({ ...input, forge: "GitHub", headers, isUnmodifiedFree: true });
}
