import type { ForgeName } from "@emend/contract";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import { AppError } from "../errors.ts";
import type { Forge } from "../forge/forge.ts";
import { openLocalForge } from "../forge/local/local-forge.ts";
import type { Polling } from "../forge/polling.ts";
import { type ForgeDeps, normalizeRepository, openJudgedForge } from "../forge/registry.ts";
import type { Remote } from "../tree/mirror/mirror.ts";

export type ContextForges = Pick<ForgeDeps, "local" | "githubTokens" | "reach">;

/**
 * How git reads a context repository: with its own token, or none if it is public. The SSRF guard checks its addresses
 * now, because they may have changed since it was added.
 */
export async function contextRemoteOf(
  forges: ContextForges,
  repository: { id: string; forge: ForgeName; repositoryUrl: string; credential: string | null },
  signal: AbortSignal,
): Promise<Remote> {
  const opened = contextForgeOf(forges, repository);
  if (opened) return opened.gitRemote(signal);
  const { url } = normalizeRepository(repository.forge as RemoteName, repository.repositoryUrl, plainSettings());
  const addresses = await forges.reach.addressesOf(url);
  return { url: `${url}.git`, authorization: null, ...(addresses !== null && { addresses }) };
}

type RemoteName = Exclude<ForgeName, "local">;

function plainSettings() {
  return parseProjectSettings({}).forge;
}

/** The forge of a context repository, where something can be said; null: it is read without a token. */
export function contextForgeOf(
  forges: ContextForges,
  { id, forge, repositoryUrl, credential }: Parameters<typeof contextRemoteOf>[1],
  polling?: Polling,
): Forge | null {
  if (forge === "local") return openLocalForge(forges.local, localProjectOf(repositoryUrl));
  if (credential === null) return null;
  const settings = plainSettings();
  const { url } = normalizeRepository(forge, repositoryUrl, settings);
  const project = { id, forge, repositoryUrl: url, settings };
  const input = { tokens: forges.githubTokens, credential, project, ...(polling && { polling }) };
  return openJudgedForge(input, forges.reach);
}

/** The project of a local URL: the host changes with the installation's, the path does not. */
export function localProjectOf(repositoryUrl: string): string {
  const id = /\/git\/([A-Za-z0-9_-]+)\.git$/.exec(repositoryUrl)?.[1];
  if (id !== undefined) return id;
  throw new AppError("invalid_request", { publicMessage: "This is no repository of the local forge." });
}
