import { setTimeout as pause } from "node:timers/promises";
import { Type } from "typebox";
import { parseProjectSettings } from "../accounts/project-settings.ts";
import { AppError } from "../errors.ts";
import { createApiClient } from "../forge/api-client.ts";
import { createApp } from "../forge/github/create-app.ts";
import { locateGithub } from "../forge/github/github-forge.ts";
import { type AppIdentity, openAppApi, parseAppCredential } from "../forge/github/github-token.ts";
import { hookSecretOf } from "../forge/hooks/hook-secret.ts";
import { newId } from "../lib/id.ts";
import type { Fetch } from "../lib/network.ts";
import { type ConnectDeps, type ConnectedProject, connectProject, type NewRemoteProject } from "./connect-project.ts";

/** What the person who sets it up has to do next. */
export type AppStep = { kind: "create"; url: string } | { kind: "install"; name: string; url: string };

export interface GithubAppDeps extends ConnectDeps {
  fetch: Fetch;
  secret: string;
  publicUrl: string;
  told(step: AppStep): void;
}

const lookEveryMs = 2_000;

/**
 * Adds a project of GitHub with an App of its own: GitHub makes the App from a manifest, a person installs it on the
 * repository, and only then is anything stored here.
 */
export async function connectGithubApp(
  deps: GithubAppDeps,
  input: NewRemoteProject & { repo: string },
  signal: AbortSignal,
): Promise<ConnectedProject> {
  const id = newId("prj");
  const settings = parseProjectSettings(input.settings).forge;
  const place = locateGithub({ repositoryUrl: input.repo, settings });
  // GitHub reaches public addresses alone; elsewhere pull requests are looked at from here.
  const hookUrl = deps.publicUrl.startsWith("https://") ? `${deps.publicUrl}/hooks/github/${id}` : null;
  const app = await createApp(
    { fetch: deps.fetch, told: (url) => deps.told({ kind: "create", url }) },
    {
      origin: new URL(place.url).origin,
      apiUrl: place.apiUrl,
      organization: await organizationOf(deps, place, signal),
      name: `Emend for ${place.name}`.slice(0, 34),
      homeUrl: deps.publicUrl,
      hookUrl,
    },
    signal,
  );
  const identity = parseAppCredential(app.credential) as AppIdentity;
  const api = openAppApi({ fetch: deps.fetch, apiUrl: place.apiUrl }, identity);
  deps.told({ kind: "install", name: app.name, url: app.installUrl });
  const path = `/repos/${place.owner}/${place.name}/installation`;
  const request = { method: "GET", path, answer: Type.Object({ id: Type.Integer() }), what: "find its App" } as const;
  while ((await api.ask(request, [404], signal)).kind === "refused") {
    await pause(lookEveryMs, undefined, { signal }).catch(() => {
      throw notInstalled(app);
    });
  }
  const project = await connectProject(deps, "github", { ...input, id, credential: app.credential });
  if (hookUrl !== null) {
    const config = { url: hookUrl, content_type: "json", secret: hookSecretOf(deps.secret, id) };
    const answer = Type.Object({});
    await api.call(
      { method: "PATCH", path: "/app/hook/config", body: config, answer, what: "set its webhook" },
      signal,
    );
  }
  return project;
}

/** Null where GitHub says that it is a person, or does not say. */
async function organizationOf(
  deps: { fetch: Fetch },
  place: { apiUrl: string; owner: string },
  signal: AbortSignal,
): Promise<string | null> {
  const { fetch } = deps;
  const api = createApiClient({ fetch, forge: "GitHub", apiUrl: place.apiUrl, authorization: async () => null });
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
      `${app.name} was made, but not installed in time. Install it at ${app.installUrl}, make a private key on ` +
      "its page, and add the project with --app and its id.",
  });
}
