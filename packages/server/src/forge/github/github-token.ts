import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "../../errors.ts";
import type { Fetch } from "../../lib/network.ts";
import type { ApiClient } from "../api-client.ts";
import { createGithubClient } from "./github-client.ts";

/** What the functions on one repository of GitHub share. */
export interface GithubRepository {
  api: ApiClient;
  owner: string;
  /** `/repos/<owner>/<name>`. */
  path: string;
  /** GitHub makes the commits. */
  signsCommits: boolean;
  /** Of an App: what its token may do. */
  permissions: TokenSource["permissions"];
}

/** What a project that goes through a GitHub App has for a credential. */
const AppCredential = Type.Object({ appId: Type.String(), privateKey: Type.String() });

export interface AppIdentity {
  appId: string;
  privateKey: KeyObject;
}

interface InstallationToken {
  token: string;
  expiresAtMs: number;
  /** What the token may do, as GitHub granted it; null: this server does not say. */
  permissions: Readonly<Record<string, string>> | null;
}

export interface TokenSource {
  token(signal: AbortSignal): Promise<string>;
  /** Null where the credential is no App: then the repository says what its owner may do. */
  readonly permissions: ((signal: AbortSignal) => Promise<InstallationToken["permissions"]>) | null;
}

/** Tokens of installations, shared by all jobs of a process; each lives an hour. */
export type GithubTokens = Map<string, Promise<InstallationToken>>;

const clockSkewMs = 60_000;
const proofMs = 9 * 60_000;
/** A token is replaced while there is time left for a push that has begun with it. */
const renewBeforeMs = 10 * 60_000;
/** Least of what a job needs: to read and push, and to open its pull request. Every token is limited to these. */
const tokenPermissions = { contents: "write", pull_requests: "write", metadata: "read" };
/** What a new App is granted: `issue_comment` events need the issues too, though no token of ours carries that right. */
export const appPermissions = { ...tokenPermissions, issues: "read" };

/** A fine-grained token as it is; of an App, a token for this repository alone. */
export function tokenSourceOf(input: {
  credential: string;
  fetch: Fetch;
  apiUrl: string;
  repositoryPath: string;
  tokens: GithubTokens;
}): TokenSource {
  const app = parseAppCredential(input.credential);
  if (!app) return { token: async () => input.credential, permissions: null };
  // Whoever names another's App without its key must not find the token that the key made.
  const keyId = createHash("sha256").update(input.credential).digest("hex");
  const key = `${input.apiUrl} ${keyId} ${input.repositoryPath}`;
  async function current(signal: AbortSignal): Promise<InstallationToken> {
    const known = await input.tokens.get(key)?.catch(() => undefined);
    if (known && known.expiresAtMs - Date.now() > renewBeforeMs) return known;
    const made = makeInstallationToken(input, app as AppIdentity, signal);
    input.tokens.set(key, made);
    // The next one asks again.
    made.catch(() => input.tokens.delete(key));
    return made;
  }
  return {
    token: async (signal) => (await current(signal)).token,
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
    throw new AppError("invalid_request", {
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
      answer: Type.Object({ id: Type.Integer() }),
      what: "find its App's installation",
    },
    signal,
  );
  const made = await api.call(
    {
      method: "POST",
      path: `/app/installations/${installation.id}/access_tokens`,
      body: { repositories: [repository], permissions: tokenPermissions },
      answer: Type.Object({
        token: Type.String(),
        expires_at: Type.String(),
        permissions: Type.Optional(Type.Record(Type.String(), Type.String())),
      }),
      what: "use its App",
    },
    signal,
  );
  return { token: made.token, expiresAtMs: Date.parse(made.expires_at), permissions: made.permissions ?? null };
}

/** Speaks as the App itself, of which little can be asked. */
export function openAppApi(deps: { fetch: Fetch; apiUrl: string }, app: AppIdentity): ApiClient {
  return createGithubClient({ ...deps, authorization: async () => `Bearer ${appProof(app)}` });
}

/** A JSON Web Token that says who the App is, dated back for clocks that run behind. */
function appProof(app: AppIdentity): string {
  const nowMs = Date.now();
  const seconds = (ms: number) => Math.floor(ms / 1000);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { iat: seconds(nowMs - clockSkewMs), exp: seconds(nowMs + proofMs), iss: app.appId };
  const text = `${encode({ alg: "RS256", typ: "JWT" })}.${encode(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), app.privateKey).toString("base64url")}`;
}
