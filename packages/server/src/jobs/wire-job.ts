import { hash } from "node:crypto";
import type { AgentJob, JobStatus } from "@emend/contract";

/** A serialized job for the API, with an ETag that changes with its text. */
export interface WireJob {
  readonly projectId: string;
  readonly body: string;
  /** The body's size in bytes. */
  readonly contentLength: string;
  /** All of its characters are one byte long. */
  readonly isAscii: boolean;
  readonly etag: string;
  readonly isActive: boolean;
}

/** The columns of `jobs` that the API needs. */
export const wireColumns = `id, project_id, status, repository_url, ref, model, pr_link,
  wire_time(created_at) as created_at, wire_time(archived_at) as archived_at`;

export interface WireRow {
  id: string;
  project_id: string;
  status: JobStatus;
  repository_url: string;
  ref: string | null;
  model: string;
  pr_link: string | null;
  created_at: string;
  archived_at: string | null;
}

/** Only a job's body. */
export function toJobText(row: WireRow): string {
  return JSON.stringify(toAgentJob(row));
}

export function toWireJob(row: WireRow): WireJob {
  return wireJobOf({ projectId: row.project_id, body: toJobText(row), isActive: row.status === "active" });
}

/** A job whose body is already serialized. */
export function wireJobOf(job: Pick<WireJob, "projectId" | "body" | "isActive">): WireJob {
  const bytes = Buffer.byteLength(job.body);
  return {
    ...job,
    contentLength: String(bytes),
    isAscii: bytes === job.body.length,
    etag: `"${hash("sha256", job.body, "base64url").slice(0, 22)}"`,
  };
}

function toAgentJob(row: WireRow): AgentJob {
  return {
    id: row.id,
    status: row.status,
    source: { repository: row.repository_url, ref: row.ref },
    model: row.model,
    // A follow-up keeps its pull request while it works. The API shows it at the end.
    prLink: row.status === "active" ? null : row.pr_link,
    createdAt: row.created_at,
    archivedAt: row.archived_at,
  };
}

/** The body of a job that is about to be created, in two halves: its creation time goes in between. */
export function splitNewJobBody(job: {
  id: string;
  repositoryUrl: string;
  branch: string;
  model: string;
}): [string, string] {
  const body = JSON.stringify(
    toAgentJob({
      id: job.id,
      project_id: "",
      status: "active",
      repository_url: job.repositoryUrl,
      ref: job.branch,
      model: job.model,
      pr_link: null,
      created_at: "",
      archived_at: null,
    }),
  );
  const middle = body.lastIndexOf('"createdAt":""') + '"createdAt":"'.length;
  return [body.slice(0, middle), body.slice(middle)];
}

const form = /^[0-9A-Za-z_-]{1,64}$/;

/** Anything else is not an id of ours, and the database refuses some of it (U+0000). */
export function isJobId(text: string): boolean {
  return form.test(text);
}
