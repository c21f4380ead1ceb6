import type { ForgeName } from "../accounts/project.ts";
import { parseProjectSettings } from "../accounts/project-settings.ts";
import { AppError } from "../errors.ts";
import { openLocalForge } from "../forge/local/local-forge.ts";
import { type ForgeDeps, normalizeRepository, openRemoteForge } from "../forge/registry.ts";
import type { Remote } from "../tree/mirror.ts";
import type { ForgeReach } from "./forge-reach.ts";

export interface ContextForges extends Pick<ForgeDeps, "local" | "githubTokens"> {
  reach: Pick<ForgeReach, "fetch" | "addressesOf">;
}

/**
 * How git reads a context repository: with its own token, or with none where anybody may read it; and from addresses that
 * were judged just now, since a name's may have changed since it was added.
 */
export async function contextRemoteOf(
  forges: ContextForges,
  repository: { id: string; forge: ForgeName; repositoryUrl: string; credential: string | null },
  signal: AbortSignal,
): Promise<Remote> {
  const { id, forge, repositoryUrl, credential } = repository;
  if (forge === "local") return openLocalForge(forges.local, localProjectOf(repositoryUrl)).gitRemote(signal);
  const settings = parseProjectSettings({}).forge;
  const { url } = normalizeRepository(forge, repositoryUrl, settings);
  const addresses = await forges.reach.addressesOf(url);
  const judged = addresses === null ? {} : { addresses };
  if (credential === null) return { url: `${url}.git`, authorization: null, ...judged };
  const project = { id, forge, repositoryUrl: url, settings };
  const far = { fetch: forges.reach.fetch, tokens: forges.githubTokens, credential, project };
  return { ...(await openRemoteForge(far).gitRemote(signal)), ...judged };
}

/** The project whose repository this is: the address's host changes with the installation's, its end does not. */
export function localProjectOf(repositoryUrl: string): string {
  const id = /\/git\/([A-Za-z0-9_-]+)\.git$/.exec(repositoryUrl)?.[1];
  if (id !== undefined) return id;
  throw new AppError("invalid_request", { publicMessage: "This is no repository of the local forge." });
}
