import type { DashboardProject } from "@emend/contract";
import type { Project } from "../accounts/project.ts";
import { allowedModels } from "../accounts/project-settings.ts";
import { noCreates } from "./count-creates.ts";

/** A project as the dashboard sees it: never its credential. */
export function showProject(
  deps: { defaultModel: string; publicUrl(): string },
  project: Project,
  creates: ReadonlyMap<string, readonly number[]>,
): DashboardProject {
  const { id, name, forge, repositoryUrl, baseRef, docsDir, settings, hasCredential } = project;
  const createsByFiveMinutes = creates.get(id) ?? noCreates;
  return {
    id,
    name,
    forge,
    repositoryUrl,
    baseRef,
    docsDir,
    hasCredential,
    createdAt: project.createdAt.toISOString(),
    models: allowedModels(settings, deps.defaultModel),
    settings,
    createsThisHour: createsByFiveMinutes.reduce((sum, count) => sum + count, 0),
    createsByFiveMinutes,
    pullsUrl: forge === "local" ? `${deps.publicUrl()}/forge/${id}/pulls` : null,
  };
}
