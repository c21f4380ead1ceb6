import { EmendError } from "./errors.ts";

/** The path of a project's jobs, or of one job. */
export function jobPath(projectId: string, jobId?: string): string {
  const collection = `/v2/agent/${segment("projectId", projectId)}/job`;
  return jobId === undefined ? collection : `${collection}/${segment("id", jobId)}`;
}

function segment(name: string, value: string): string {
  // "." and ".." would be resolved away and reach another route.
  if (value === "" || value === "." || value === ".." || !value.isWellFormed()) {
    throw new EmendError("invalid_request", `${name} is not an identifier: ${JSON.stringify(value)}`);
  }
  return encodeURIComponent(value);
}
