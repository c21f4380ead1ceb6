import { EmendError } from "./errors.ts";

/** The path of a project's jobs, or of one job. */
export function jobPath(projectId: string, jobId?: string): string {
  const collection = `${projectPath(projectId)}/job`;
  return jobId === undefined ? collection : `${collection}/${segment("id", jobId)}`;
}

export function jobsPath(projectId: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = new URLSearchParams(given).toString();
  return `${projectPath(projectId)}/jobs${text && `?${text}`}`;
}

function projectPath(projectId: string): string {
  return `/v2/agent/${segment("projectId", projectId)}`;
}

function segment(name: string, value: string): string {
  // "." and ".." would be resolved away and reach another route.
  if (value === "" || value === "." || value === ".." || !value.isWellFormed()) {
    throw new EmendError("invalid_request", `${name} is not an identifier: ${JSON.stringify(value)}`);
  }
  return encodeURIComponent(value);
}
