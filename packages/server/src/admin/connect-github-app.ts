import { isIP } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Type } from "typebox";
import { findPendingApp, forgetPendingApp, keepPendingApp, type PendingApp } from "../accounts/projects/github-app.ts";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import { AppError } from "../errors.ts";
import type { ApiClient } from "../forge/api-client.ts";
import { createApp } from "../forge/github/create-app.ts";
import { createGithubClient } from "../forge/github/github-client.ts";
import { locateGithub } from "../forge/github/github-forge.ts";
import { type AppIdentity, openAppApi, parseAppCredential } from "../forge/github/github-token.ts";
import { hookSecretOf } from "../forge/hooks/hook-secret.ts";
import { newId } from "../lib/id.ts";
import type { Fetch } from "../lib/network.ts";
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

const lookEveryMs = 2_000;

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
  while ((await api.ask(request, [404], signal)).kind === "refused") await pause(lookEveryMs, undefined, { signal });
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
      organization: await organizationOf(deps, place, signal),
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

/** Null if it is a person, or GitHub does not say. */
async function organizationOf(
  deps: { fetch: Fetch },
  place: { apiUrl: string; owner: string },
  signal: AbortSignal,
): Promise<string | null> {
  const { fetch } = deps;
  const api = createGithubClient({ fetch, apiUrl: place.apiUrl, authorization: async () => null });
  const path = `/users/${encodeURIComponent(place.owner)}`;
  const request = {
    method: "GET",
    path,
    answer: Type.Object({ type: Type.String() }),
    what: "read its owner",
  } as const;
  const found = await api.ask(request, [401, 403, 404], signal).catch(() => null);
  return found?.kind === "ok" && found.value.type === "Organization" ? place.owner : null;
}

function notInstalled(app: { name: string; installUrl: string }): AppError {
  return new AppError("forge_rejected", {
    publicMessage:
      `${app.name} was created, but is not installed yet. Install it at ${app.installUrl}, then run the same command ` +
      "again. Emend stored the App and continues with it.",
  });
}
