import { isIP } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Fetch } from "@emend/base/network.ts";
import {
  type ApiClient,
  type AppIdentity,
  appManifest,
  appPermissions,
  convertManifest,
  createApp,
  createGithubClient,
  type JudgedReach,
  locateGithub,
  newAppUrl,
  openAppApi,
  parseAppCredential,
} from "@emend/forges";
import { Type } from "typebox";
import {
  beginAppSetup,
  findOwnSetup,
  findPendingApp,
  forgetPendingApp,
  keepPendingApp,
  keepSetupApp,
  listCreatedSetups,
  openCreatedSetup,
  type PendingApp,
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
import { hookSecretOf } from "../forge/hooks/plugin.ts";
import { newId } from "../lib/id.ts";
import { mayConnect } from "../notify/ssrf-guard.ts";
import { type ConnectDeps, type ConnectedProject, connectProject, type NewRemoteProject } from "./connect-project.ts";

/** The next step for the person who sets it up. */
export type AppStep = { kind: "create"; url: string } | { kind: "install"; name: string; url: string };

export interface GithubAppDeps extends ConnectDeps {
  fetch: Fetch;
  secret: string;
  publicUrl: string;
  told(step: AppStep): void;
}

const pollEveryMs = 2_000;

/**
 * Adds a GitHub project with its own App: GitHub creates the App from a manifest, and a person installs it on the
 * repository. The App's key is stored before anything else can fail, so that running the command again continues.
 */
export async function connectGithubApp(
  deps: GithubAppDeps,
  input: NewRemoteProject & { repo: string },
  signal: AbortSignal,
): Promise<ConnectedProject> {
  const settings = parseProjectSettings(input.settings).forge;
  const place = locateGithub({ repositoryUrl: input.repo, settings });
  const app = (await findUsableApp(deps, place, signal)) ?? (await makeApp(deps, place, signal));
  const { projectId: id } = app;
  const api = appApi(deps, place, app);
  deps.told({ kind: "install", name: app.name, url: app.installUrl });
  await untilInstalled(api, place, signal).catch((error: unknown) => {
    throw signal.aborted ? notInstalled(app) : error;
  });
  const url = hookUrlOf(deps.publicUrl, new URL(place.url).origin, id);
  if (url !== null) {
    const config = { url, content_type: "json", secret: hookSecretOf(deps.secret, id) };
    const answer = Type.Object({});
    await api.call(
      { method: "PATCH", path: "/app/hook/config", body: config, answer, what: "set its webhook" },
      signal,
    );
  }
  const project = await connectProject(deps, "github", { ...input, id, credential: app.credential });
  await forgetPendingApp(deps, place.url);
  return project;
}

async function untilInstalled(api: ApiClient, place: Place, signal: AbortSignal): Promise<void> {
  const path = `/repos/${place.owner}/${place.name}/installation`;
  const request = { method: "GET", path, answer: Type.Object({ id: Type.Integer() }), what: "find its App" } as const;
  while ((await api.ask(request, [404], signal)).kind === "refused") await pause(pollEveryMs, undefined, { signal });
}

type Place = ReturnType<typeof locateGithub>;

/** GitHub can only reach public addresses; an own server also internal ones. Otherwise pull requests are polled. */
export function hookUrlOf(publicUrl: string, githubOrigin: string, projectId: string): string | null {
  const { protocol, hostname } = new URL(publicUrl);
  const isOwnServer = !/(^|\.)(github|ghe)\.com$/.test(new URL(githubOrigin).hostname);
  const isReached = protocol === "https:" && (isPublicHost(hostname) || (isOwnServer && !isLoopbackHost(hostname)));
  return isReached ? `${publicUrl}/hooks/github/${projectId}` : null;
}

const isLoopbackHost = (hostname: string) => /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host)) return mayConnect(host, { allowPrivate: false });
  return host.includes(".") && !/\.(localhost|local|internal|lan|home\.arpa)$/.test(host);
}

function appApi(deps: GithubAppDeps, place: Place, app: PendingApp): ApiClient {
  return openAppApi({ fetch: deps.fetch, apiUrl: place.apiUrl }, parseAppCredential(app.credential) as AppIdentity);
}

/** The App of an earlier attempt, unless it was deleted on GitHub. */
async function findUsableApp(deps: GithubAppDeps, place: Place, signal: AbortSignal): Promise<PendingApp | null> {
  const kept = await findPendingApp(deps, place.url);
  if (!kept) return null;
  const request = { method: "GET", path: "/app", answer: Type.Object({}), what: "find its App" } as const;
  const found = await appApi(deps, place, kept).ask(request, [401, 404], signal);
  return found.kind === "ok" ? kept : null;
}

async function makeApp(deps: GithubAppDeps, place: Place, signal: AbortSignal): Promise<PendingApp> {
  const projectId = newId("prj");
  const made = await createApp(
    { fetch: deps.fetch, told: (url) => deps.told({ kind: "create", url }) },
    {
      origin: new URL(place.url).origin,
      apiUrl: place.apiUrl,
      owners: await ownersOf(deps, place, signal),
      name: `Emend for ${place.name}`.slice(0, 34),
      homeUrl: deps.publicUrl,
      hookUrl: hookUrlOf(deps.publicUrl, new URL(place.url).origin, projectId),
    },
    signal,
  );
  const app = { ...made, projectId };
  await keepPendingApp(deps, place.url, app);
  return app;
}

/** The organization, or null for the person who sets it up. Both where GitHub answers only people who are logged in. */
async function ownersOf(
  deps: { fetch: Fetch },
  place: { apiUrl: string; owner: string },
  signal: AbortSignal,
): Promise<readonly (string | null)[]> {
  const { fetch } = deps;
  const api = createGithubClient({ fetch, apiUrl: place.apiUrl, authorization: async () => null });
  const path = `/users/${encodeURIComponent(place.owner)}`;
  const answer = Type.Object({ type: Type.String() });
  const found = await api
    .ask({ method: "GET", path, answer, what: "read its owner" }, [401, 403, 404], signal)
    .catch(() => null);
  const type = found?.kind === "ok" ? found.value.type : null;
  if (type === "Organization") return [place.owner];
  return type === "User" ? [null] : [place.owner, null];
}

function notInstalled(app: { name: string; installUrl: string }): AppError {
  return new AppError("forge_rejected", {
    publicMessage:
      `${app.name} was created, but is not installed yet. Install it at ${app.installUrl}, then run the same command ` +
      "again. Emend stored the App and continues with it.",
  });
}

export interface AppSetupDeps {
  pool: Pool;
  sealer: Sealer;
  /** EMEND_SECRET. */
  secret: string;
  publicUrl(): string;
  reach: JudgedReach;
}

const requestMsMax = 30_000;

/** Creates a GitHub App from the dashboard with GitHub's manifest flow. The person's browser goes to GitHub and back. */
export function createGithubApps(deps: AppSetupDeps): GithubApps {
  const { pool, sealer } = deps;

  return {
    async begin(input, by) {
      const { origin } = githubAt(input.host);
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
