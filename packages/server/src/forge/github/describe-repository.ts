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
  { api, path, permissions }: GithubRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const what = "read the repository";
  const found = await api.call({ method: "GET", path, answer: GithubRepositoryAnswer, what }, signal);
  // To every installation token GitHub answers `push: false` here: an App's rights are those of its token.
  const granted = permissions && (await permissions(signal));
  const mayAs = (name: string) => granted && granted[name] === "write";
  return {
    path: found.full_name,
    defaultBranch: found.default_branch,
    archived: found.archived,
    // Of a fine-grained token this is its owner's right and not the token's.
    mayPush: permissions ? mayAs("contents") : (found.permissions?.push ?? null),
    mayOpenPullRequests: permissions ? mayAs("pull_requests") : null,
  };
}
