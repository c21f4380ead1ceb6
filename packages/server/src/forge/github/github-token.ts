import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { AppError } from "../../errors.ts";
import type { Fetch } from "../../lib/network.ts";
import { type ApiClient, createApiClient } from "../api-client.ts";

/** What a project that goes through a GitHub App has for a credential. */
const AppCredential = Type.Object({ appId: Type.String(), privateKey: Type.String() });

export interface AppIdentity {
  appId: string;
  privateKey: KeyObject;
}

interface InstallationToken {
  token: string;
  expiresAtMs: number;
}

/** Tokens of installations, shared by all jobs of a process; each lives an hour. */
export type GithubTokens = Map<string, Promise<InstallationToken>>;

const clockSkewMs = 60_000;
const proofMs = 9 * 60_000;
/** A token is replaced while there is time left for a push that has begun with it. */
const renewBeforeMs = 10 * 60_000;
/** Least of what the job needs: to read and push, and to open its pull request. */
export const appPermissions = { contents: "write", pull_requests: "write", metadata: "read" };

/** A fine-grained token as it is; of an App, a token for this repository alone. */
export function tokenSourceOf(input: {
  credential: string;
  fetch: Fetch;
  apiUrl: string;
  repositoryPath: string;
  tokens: GithubTokens;
}): (signal: AbortSignal) => Promise<string> {
  const app = parseAppCredential(input.credential);
  if (!app) return async () => input.credential;
  // Whoever names another's App without its key must not find the token that the key made.
  const keyId = createHash("sha256").update(input.credential).digest("hex");
  const key = `${input.apiUrl} ${keyId} ${input.repositoryPath}`;
  return async (signal) => {
    const known = await input.tokens.get(key)?.catch(() => undefined);
    if (known && known.expiresAtMs - Date.now() > renewBeforeMs) return known.token;
    const made = makeInstallationToken(input, app, signal);
    input.tokens.set(key, made);
    // The next one asks again.
    made.catch(() => input.tokens.delete(key));
    return (await made).token;
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
      body: { repositories: [repository], permissions: appPermissions },
      answer: Type.Object({ token: Type.String(), expires_at: Type.String() }),
      what: "use its App",
    },
    signal,
  );
  return { token: made.token, expiresAtMs: Date.parse(made.expires_at) };
}

/** Speaks as the App itself, of which little can be asked. */
export function openAppApi(deps: { fetch: Fetch; apiUrl: string }, app: AppIdentity): ApiClient {
  return createApiClient({
    ...deps,
    forge: "GitHub",
    headers: { accept: "application/vnd.github+json" },
    authorization: async () => `Bearer ${appProof(app)}`,
  });
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
