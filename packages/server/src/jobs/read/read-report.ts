import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { FailureCode, JobPhase, JobStatus } from "@emend/contract";
import type { Finding } from "@emend/site";
import type { Queryable } from "../../db/pool.ts";
import { diffFiles } from "./diff.ts";
import { type StoredVerdict, toFindings } from "./stored-verdict.ts";

/** What a job did, for people: the API's nine fields do not include it. */
export interface JobReport {
  status: JobStatus;
  phase: JobPhase;
  model: string;
  title: string | null;
  summary: string | null;
  findings: { before: number; after: number; introduced: readonly Finding[]; fixed: readonly Finding[] } | null;
  /** A unified diff. Empty if nothing changed. */
  diff: string;
  changedFiles: number;
  failure: { code: FailureCode; message: string } | null;
}

interface ReportRow {
  status: JobStatus;
  phase: JobPhase;
  model: string;
  title: string | null;
  summary: string | null;
  findings: StoredVerdict | null;
  diff: Buffer | null;
  failure_code: FailureCode | null;
  failure_message: string | null;
}

export async function readReport(db: Queryable, jobId: string): Promise<JobReport | null> {
  const { rows } = await db.query<ReportRow>(
    `select status, phase, model, title, summary, findings, diff, failure_code, failure_message
       from jobs where id = $1`,
    [jobId],
  );
  const row = rows[0];
  if (!row) return null;
  const diff = row.diff ? (await promisify(inflate)(row.diff)).toString("utf8") : "";
  return {
    status: row.status,
    phase: row.phase,
    model: row.model,
    title: row.title,
    summary: row.summary,
    findings: toFindings(row.findings),
    diff,
    changedFiles: diffFiles(diff).length,
    failure: row.failure_code ? { code: row.failure_code, message: row.failure_message ?? "" } : null,
  };
}
