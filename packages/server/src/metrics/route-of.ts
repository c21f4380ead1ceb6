const jobPath = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+)(?:\/(run|diff|events|cancel|archive|message|retry))?)?\/?$/;
const jobsPath = /^\/v2\/agent\/([^/]+)\/jobs\/?$/;
const dashboardPath = /^\/dashboard\/api\/(?:projects\/([^/]+)|jobs\/([^/]+))/;
const plainPaths = new Set(["/healthz", "/readyz", "/metrics", "/openapi.json", "/mcp"]);

const folders = new Set(["git", "reference", "dashboard", "hooks", "app"]);

export interface RequestRoute {
  /** From a closed set. */
  route: string;
  projectId?: string | undefined;
  jobId?: string | undefined;
}

/** Which route a path belongs to, by its form alone. */
export function routeOf(url: string): RequestRoute {
  const end = url.indexOf("?");
  const path = end === -1 ? url : url.slice(0, end);
  const job = jobPath.exec(path);
  if (job) {
    const [, projectId, jobId, action] = job;
    const route = `/v2/agent/:projectId/job${jobId ? "/:id" : ""}${action ? `/${action}` : ""}`;
    return { route, projectId, jobId };
  }
  const jobs = jobsPath.exec(path);
  if (jobs) return { route: "/v2/agent/:projectId/jobs", projectId: jobs[1] };
  if (plainPaths.has(path)) return { route: path };
  const [, first = ""] = path.split("/", 2);
  const [, projectId, jobId] = dashboardPath.exec(path) ?? [];
  return { route: folders.has(first) ? `/${first}/*` : "other", projectId, jobId };
}
