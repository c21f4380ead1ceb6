import { Type } from "typebox";
import type { RepositoryDescription } from "../forge.ts";
import type { GithubRepository } from "./github-forge.ts";

const GithubRepositoryAnswer = Type.Object({
  full_name: Type.String(),
  default_branch: Type.String(),
  archived: Type.Boolean(),
  permissions: Type.Optional(Type.Object({ push: Type.Boolean() })),
});

export async function describeRepository(
  { api, path }: GithubRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const what = "read the repository";
  const found = await api.call({ method: "GET", path, answer: GithubRepositoryAnswer, what }, signal);
  return {
    path: found.full_name,
    defaultBranch: found.default_branch,
    archived: found.archived,
    // Of an App's token this tells nothing; of a fine-grained one it is the owner's right and not the token's.
    mayPush: found.permissions?.push ?? null,
    mayOpenPullRequests: null,
  };
}
