import { Type } from "typebox";
import type { ApiClient } from "../api-client.ts";
import { mayLook } from "../may-look.ts";

export interface GiteaServer {
  name: "Gitea" | "Forgejo";
  version: string;
  isTooOld: boolean;
  /** Whether it has the look-up of a pull request by base and head. */
  findsByBranches: boolean;
}

/** The first whose tokens have scopes and whose API tells a person's rights on a repository. */
const giteaLeast = [1, 20] as const;
const byBranchesLeast = [1, 22] as const;

/** Forgejo names the Gitea that it stands for behind its own version: `11.0.1+gitea-1.22.0`. */
export async function readServer(api: ApiClient, signal: AbortSignal): Promise<GiteaServer | null> {
  const found = await mayLook(api, { path: "/version", answer: Type.Object({ version: Type.String() }) }, signal);
  if (!found) return null;
  const { version } = found.value;
  const [own = "", gitea] = version.split("+gitea-");
  const [major = 0, minor = 0] = (gitea ?? own).split(".").map((part) => Number.parseInt(part, 10) || 0);
  const isBefore = ([majorLeast, minorLeast]: readonly [number, number]) =>
    major < majorLeast || (major === majorLeast && minor < minorLeast);
  return {
    name: gitea === undefined ? "Gitea" : "Forgejo",
    version: own,
    isTooOld: isBefore(giteaLeast),
    findsByBranches: !isBefore(byBranchesLeast),
  };
}
