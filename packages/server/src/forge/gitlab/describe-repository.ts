import { Type } from "typebox";
import type { RepositoryDescription } from "../forge.ts";
import type { GitlabRepository } from "./gitlab-forge.ts";

const Access = Type.Optional(Type.Union([Type.Object({ access_level: Type.Integer() }), Type.Null()]));
const GitlabProject = Type.Object({
  path_with_namespace: Type.String(),
  default_branch: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  archived: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Type.Object({ project_access: Access, group_access: Access })),
});
/** Developer. */
const writeLevel = 30;

export async function describeRepository(
  { api, path }: GitlabRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const what = "read the project";
  const found = await api.call({ method: "GET", path, answer: GitlabProject, what }, signal);
  const { project_access: project, group_access: group } = found.permissions ?? {};
  const level = Math.max(project?.access_level ?? 0, group?.access_level ?? 0);
  const mayWrite = found.permissions === undefined ? null : level >= writeLevel;
  return {
    path: found.path_with_namespace,
    defaultBranch: found.default_branch ?? null,
    archived: found.archived ?? false,
    mayPush: mayWrite,
    mayOpenPullRequests: mayWrite,
  };
}
