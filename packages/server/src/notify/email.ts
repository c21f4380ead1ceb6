import type { Logger } from "@emend/base/logger.ts";
import { authoritiesOf } from "@emend/base/network.ts";
import type { AskedConstruct } from "@emend/contract";
import type { Transporter } from "nodemailer";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/** The operator's mail server. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the start (`smtps://`). Otherwise STARTTLS, if the server offers it. */
  isSecure: boolean;
  login: { user: string; password: string } | null;
  from: { name: string; address: string };
  /** A PEM file with additional trusted authorities. */
  caFile: string | null;
}

const connectMsMax = 10_000;
const idleMsMax = 30_000;

async function openTransport({ host, port, isSecure, login, caFile }: SmtpSettings): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    host,
    port,
    secure: isSecure,
    // A password must not cross the network in the clear.
    requireTLS: login !== null && !isSecure,
    ...(login && { auth: { user: login.user, pass: login.password } }),
    ...(caFile !== null && { tls: { ca: authoritiesOf({ caFile }) } }),
    connectionTimeout: connectMsMax,
    greetingTimeout: connectMsMax,
    socketTimeout: idleMsMax,
    // Texts of jobs must never name files or addresses to attach.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** Connects and logs in, and sends nothing. Throws with the server's reason. */
export async function trySmtp(settings: SmtpSettings): Promise<void> {
  const transport = await openTransport(settings);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

export interface EmailDeps {
  pool: Queryable;
  log: Logger;
  smtp: SmtpSettings | null;
  publicUrl(): string;
}

interface DueEmail {
  id: string;
  /** Null: it asks for a review of the pull request. */
  jobId: string | null;
  projectId: string;
  number: number | null;
  email: string;
  name: string;
  project: string;
  status: string;
  title: string | null;
  failureCode: string | null;
  failureMessage: string | null;
  pullUrl: string | null;
  question: string | null;
  options: readonly string[] | null;
  /** What the question is about, if a person must approve it. */
  constructs: readonly AskedConstruct[] | null;
  until: string | null;
}

/** Sends one email about a job that ended or asks, or about a review. Throws if the mail server does not take it: the task is kept. */
export async function sendJobEmail(deps: EmailDeps, id: string): Promise<void> {
  const { pool, smtp, log } = deps;
  const { rows } = await pool.query<DueEmail>(
    `select mail.id, mail.job_id as "jobId", projects.id as "projectId", mail.number, users.email, users.name,
       projects.name as project, jobs.status, coalesce(jobs.title, pull.title) as title, failure_code as "failureCode",
       failure_message as "failureMessage", pull_request ->> 'url' as "pullUrl", question, options, constructs, wire_time(answer_until) as until
     from job_emails mail left join job_questions asked on asked.id = question_id
       left join local_pull_requests pull on pull.project_id = mail.project_id and pull.number = mail.number
       join users on users.id = user_id left join jobs on jobs.id = mail.job_id
       join projects on projects.id = coalesce(jobs.project_id, mail.project_id)
     where mail.id = $1`,
    [id],
  );
  const due = rows[0];
  if (!due) return;
  if (smtp === null) return void (await dropEmail(pool, id));
  const transport = await openTransport(smtp);
  try {
    await transport.sendMail(toMessage(due, smtp, deps.publicUrl()));
    await dropEmail(pool, id);
    log.info({ emailId: id, jobId: due.jobId }, "email sent");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const publicMessage = `The mail server did not take an email: ${code ?? message}.`;
    throw new AppError("unavailable", { publicMessage, retryable: true, cause });
  } finally {
    transport.close();
  }
}

async function dropEmail(db: Queryable, id: string): Promise<void> {
  await db.query("delete from job_emails where id = $1", [id]);
}

export async function setEmailsJobs(db: Queryable, userId: string, isOn: boolean): Promise<void> {
  await db.query("update users set emails_jobs = $2 where id = $1", [userId, isOn]);
}

export async function readEmailsJobs(db: Queryable, userId: string): Promise<boolean> {
  const { rows } = await db.query<{ isOn: boolean }>('select emails_jobs as "isOn" from users where id = $1', [userId]);
  return rows[0]?.isOn ?? false;
}

function toMessage(due: DueEmail, { from }: SmtpSettings, publicUrl: string) {
  const isReview = due.jobId === null;
  const url = isReview ? `${publicUrl}/app/pulls/${due.projectId}/${due.number}` : `${publicUrl}/app/jobs/${due.jobId}`;
  const failed = due.status === "completed" ? "Follow-up failed" : "Failed";
  const ended = due.failureCode === null ? "Completed" : due.failureCode === "cancelled" ? "Cancelled" : failed;
  const word = isReview ? "Review" : due.question === null ? ended : due.constructs ? "Waiting for you" : "Question";
  const title = oneLine(due.question ?? due.title ?? "A job without a title", due.question === null ? 150 : 500);
  const isFailure = word === failed && due.failureMessage !== null;
  const lines = [
    `${word}: ${title}`,
    `Project: ${oneLine(due.project, 200)}`,
    ...(due.constructs
      ? constructLines(due.constructs)
      : (due.options ?? []).map((option) => `- ${oneLine(option, 200)}`)),
    ...(due.question === null
      ? []
      : due.constructs
        ? [`Open the job to publish it or not. Without an answer by ${due.until}, it fails, and its change is kept.`]
        : ["Open the job to answer. Without an answer, the agent continues with its best guess."]),
    ...(isFailure ? [oneLine(due.failureMessage ?? "", 500)] : []),
    ...(due.pullUrl === null && word === "Completed" ? ["No pull request was opened."] : []),
    ...(isReview ? ["You were asked to review this pull request."] : []),
  ];
  const links = [
    ...(due.pullUrl === null ? [] : [["Pull request", due.pullUrl]]),
    [isReview ? "Pull request" : "Job", url],
  ] as [string, string][];
  const why = "You get this email because you turned it on in Emend, under Settings, Account.";
  return {
    from,
    // As an object, so that an address with a comma is never read as two.
    to: { name: "", address: due.email },
    subject: oneLine(`${word}: ${title}`, 200),
    // The same for each attempt: a mail server that got it twice can tell.
    messageId: `<${due.id}@${new URL(publicUrl).hostname}>`,
    headers: { "Auto-Submitted": "auto-generated" },
    text: [...lines, "", ...links.map(([name, to]) => `${name}: ${to}`), "", why, ""].join("\n"),
    html: [
      ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
      `<p>${links.map(([name, to]) => `<a href="${escapeHtml(to)}">${name}</a>`).join(" · ")}</p>`,
      `<p style="color:#666">${why}</p>`,
    ].join("\n"),
  };
}

const constructsMax = 10;

function constructLines(constructs: readonly AskedConstruct[]): string[] {
  const shown = constructs.slice(0, constructsMax).map(({ path, line, text, count }) => {
    const times = count === 1 ? "" : ` (${count} times)`;
    return `- ${oneLine(path, 200)}, line ${line}${times}: ${oneLine(text, 200)}`;
  });
  const more = constructs.length - shown.length;
  return more > 0 ? [...shown, `- and ${more} more`] : shown;
}

/** Titles and failures are a model's words: no line breaks (header injection) and no invisible characters. */
function oneLine(text: string, charactersMax: number): string {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim();
  const characters = [...line];
  return characters.length <= charactersMax ? line : `${characters.slice(0, charactersMax - 1).join("")}…`;
}

function escapeHtml(text: string): string {
  const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}
