import { Type } from "typebox";
import type { RepositoryDescription } from "../forge.ts";
import type { GiteaRepository } from "./gitea-forge.ts";

const Repository = Type.Object({
  full_name: Type.String(),
  default_branch: Type.String(),
  archived: Type.Boolean(),
  has_pull_requests: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Type.Object({ push: Type.Boolean() })),
});

export async function describeRepository(
  { api, path }: GiteaRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const what = "read the repository";
  const found = await api.call({ method: "GET", path, answer: Repository, what }, signal);
  return {
    path: found.full_name,
    defaultBranch: found.default_branch,
    archived: found.archived,
    mayPush: found.permissions?.push ?? null,
    mayOpenPullRequests: found.has_pull_requests ?? null,
  };
}
