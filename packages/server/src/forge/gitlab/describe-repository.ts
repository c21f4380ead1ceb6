import { type Static, Type } from "typebox";
import type { ApiClient } from "../api-client.ts";
import type { RepositoryDescription } from "../forge.ts";
import type { ForgeSettings } from "../forge-project.ts";

/** What all functions for a GitLab project share. */
export interface GitlabRepository {
  api: ApiClient;
  settings: ForgeSettings;
  /** `/projects/<encoded path>`. */
  path: string;
}

const Access = Type.Optional(Type.Union([Type.Object({ access_level: Type.Integer() }), Type.Null()]));
const GitlabProject = Type.Object({
  path_with_namespace: Type.String(),
  default_branch: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  archived: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Type.Object({ project_access: Access, group_access: Access })),
});
/** Developer. */
const writeLevel = 30;

function levelIn({ permissions }: Static<typeof GitlabProject>): number | null {
  // Permissions through an invited group or as an administrator are in neither field: null means unknown, not none.
  const levels = [permissions?.project_access, permissions?.group_access].flatMap(
    (access) => access?.access_level ?? [],
  );
  return levels.length > 0 ? Math.max(...levels) : null;
}

/** 30 is Developer, 40 is Maintainer. Null if GitLab does not say. */
export async function accessLevelOf({ api, path }: GitlabRepository, signal: AbortSignal): Promise<number | null> {
  const what = "read the project";
  return levelIn(await api.call({ method: "GET", path, answer: GitlabProject, what }, signal));
}

export async function describeRepository(
  { api, path }: GitlabRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const what = "read the project";
  const found = await api.call({ method: "GET", path, answer: GitlabProject, what }, signal);
  const level = levelIn(found);
  const mayWrite = level === null ? null : level >= writeLevel;
  return {
    path: found.path_with_namespace,
    defaultBranch: found.default_branch ?? null,
    archived: found.archived ?? false,
    mayPush: mayWrite,
    mayOpenPullRequests: mayWrite,
  };
}
