import { Type } from "typebox";
import {
  beginAppSetup,
  findOwnSetup,
  keepSetupApp,
  listCreatedSetups,
  openCreatedSetup,
  removeAppSetup,
  setSetupState,
  spendSetupState,
} from "../accounts/projects/github-app.ts";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import type { Sealer } from "../accounts/secrets.ts";
import { hashToken, newToken } from "../accounts/sessions/session-store.ts";
import type { GithubApps } from "../dashboard/project-admin.ts";
import type { Pool } from "../db/pool.ts";
import { AppError, isAppError } from "../errors.ts";
import type { JudgedReach } from "../forge/forge-project.ts";
import { appManifest, convertManifest, newAppUrl } from "../forge/github/create-app.ts";
import { locateGithub } from "../forge/github/github-forge.ts";
import { type AppIdentity, appPermissions, openAppApi, parseAppCredential } from "../forge/github/github-token.ts";
import { hookSecretOf } from "../forge/hooks/hook-secret.ts";
import { newId } from "../lib/id.ts";
import { hookUrlOf } from "./connect-github-app.ts";

export interface AppSetupDeps {
  pool: Pool;
  sealer: Sealer;
  /** EMEND_SECRET. */
  secret: string;
  publicUrl(): string;
  reach: JudgedReach;
  /** SSRF guard: refuses an address of an internal network. */
  judge(url: string): Promise<void>;
}

const requestMsMax = 30_000;

/** Creates a GitHub App from the dashboard with GitHub's manifest flow. The person's browser goes to GitHub and back. */
export function createGithubApps(deps: AppSetupDeps): GithubApps {
  const { pool, sealer } = deps;

  return {
    async begin(input, by) {
      const { origin, apiUrl } = githubAt(input.host);
      for (const url of [origin, apiUrl]) await deps.judge(url);
      const projectId = newId("prj");
      const { organization, session } = input;
      await beginAppSetup(pool, {
        projectId,
        origin,
        organization,
        createdBy: by.name,
        sessionHash: hashToken(session),
      });
      return { id: projectId };
    },

    async originOf(id, session) {
      return (await findOwnSetup(pool, { projectId: id, sessionHash: hashToken(session) }))?.origin ?? null;
    },

    async manifest({ id, session, base }) {
      const setup = await findOwnSetup(pool, { projectId: id, sessionHash: hashToken(session) });
      if (!setup) throw gone();
      const state = newToken();
      await setSetupState(pool, id, hashToken(state));
      const hookUrl = hookUrlOf(deps.publicUrl(), setup.origin, id);
      const manifest = appManifest({
        // Names are unique on GitHub, and people can change it there.
        name: `Emend for ${setup.organization ?? id.slice(-6)}`.slice(0, 34),
        homeUrl: deps.publicUrl(),
        redirectUrl: `${base}/app/github-app`,
        setupUrl: `${base}/app/projects/new?from=${id}`,
        hookUrl,
      });
      return {
        action: newAppUrl(setup.origin, setup.organization, state),
        manifest: JSON.stringify(manifest),
        permissions: appPermissions,
        hasWebhook: hookUrl !== null,
      };
    },

    async created({ state, code, session }) {
      const setup = await spendSetupState(pool, { stateHash: hashToken(state), sessionHash: hashToken(session) });
      if (!setup) throw gone();
      const { apiUrl } = githubAt(setup.origin);
      const signal = AbortSignal.timeout(requestMsMax);
      const made = await convertManifest({ fetch: deps.reach.fetch, apiUrl }, code, signal).catch(asRequest);
      const { appId, privateKey, name, installUrl } = made;
      // The link is shown to people, so it must stay on the server that they named.
      if (new URL(installUrl).origin !== setup.origin) throw refused("GitHub named another server for the App.");
      const credential = JSON.stringify({ appId, privateKey });
      await keepSetupApp({ db: pool, sealer }, setup.projectId, { name, installUrl, credential });
      return { id: setup.projectId };
    },

    async list() {
      const setups = await listCreatedSetups(pool);
      return setups.flatMap(({ projectId: id, origin, createdBy, createdAt, app }) =>
        app ? [{ id, origin, createdBy, createdAt: createdAt.toISOString(), ...app }] : [],
      );
    },

    remove: (id) => removeAppSetup(pool, id),
  };
}

/** The stored App of a setup, with where it is. Null if there is none. */
export async function findSetupApp(deps: Pick<AppSetupDeps, "pool" | "sealer">, id: string) {
  const setup = await openCreatedSetup({ db: deps.pool, sealer: deps.sealer }, id);
  return setup && { credential: setup.credential, app: setup.app, ...githubAt(setup.origin) };
}

/** Gives the App's webhook this project's secret. Without a reachable address there is no webhook. */
export async function setAppHook(
  deps: Pick<AppSetupDeps, "secret" | "publicUrl" | "reach">,
  input: { projectId: string; origin: string; apiUrl: string; credential: string },
): Promise<void> {
  const url = hookUrlOf(deps.publicUrl(), input.origin, input.projectId);
  if (url === null) return;
  const app = parseAppCredential(input.credential) as AppIdentity;
  const body = { url, content_type: "json", secret: hookSecretOf(deps.secret, input.projectId) };
  const request = { method: "PATCH", path: "/app/hook/config", body, answer: Type.Object({}), what: "set its webhook" };
  const api = openAppApi({ fetch: deps.reach.fetch, apiUrl: input.apiUrl }, app);
  await api.call({ ...request, method: "PATCH" }, AbortSignal.timeout(requestMsMax)).catch(asRequest);
}

/** GitHub's pages and API, by any address of that server. Refuses what a repository's address may not be either. */
function githubAt(host: string): { origin: string; apiUrl: string } {
  const given = URL.parse(/^[a-z]+:\/\//i.test(host) ? host : `https://${host}`);
  if (given?.pathname !== "/" || given.search || given.hash) {
    throw refused("Give GitHub's address without a path, such as https://github.com.");
  }
  const credentials = given.username ? `${given.username}@` : "";
  const repositoryUrl = `${given.protocol}//${credentials}${given.host}/owner/name`;
  const { url, apiUrl } = locateGithub({ repositoryUrl, settings: parseProjectSettings({}).forge });
  return { origin: new URL(url).origin, apiUrl };
}

function gone(): AppError {
  return refused(
    "This setup has expired, was already used, or belongs to another browser session. Start again from Add project.",
  );
}

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** Throws what a forge answered as an error of the person's request. */
export function asRequest(error: unknown): never {
  if (!isAppError(error)) throw error;
  const { publicMessage, retryAfterMs } = error;
  if (error.code === "forge_unavailable")
    throw new AppError("unavailable", { publicMessage, retryAfterMs, cause: error });
  const isRefusal = error.code === "forge_rejected" || error.code === "repository_unavailable";
  throw isRefusal ? new AppError("invalid_request", { publicMessage, cause: error }) : error;
}
