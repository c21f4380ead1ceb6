import { createHmac, timingSafeEqual } from "node:crypto";
import type { ByteBudget } from "@emend/base/byte-budget.ts";
import { forgeNames } from "@emend/contract";
import type { FastifyInstance } from "fastify";
import { signedRoute } from "../../lib/signed-route.ts";

export interface HookDeps {
  /** EMEND_SECRET. */
  secret: string;
  isProject(projectId: string): Promise<boolean>;
  /** The memory budget for bodies whose signature is not verified yet. */
  unknownBytes: ByteBudget;
  /** Something happened on a pull request: poll it now. `isMerged`: it was merged, by the event's own words. */
  noticed(input: { projectId: string; number: number; isMerged: boolean }): Promise<void>;
  /** Somebody may have asked for a job on an issue. False if issues of this project start none. */
  askedOnIssue(input: { projectId: string; number: number }): Promise<boolean>;
  /** Something was pushed to one of the project's repositories. False if nothing depends on it. */
  pushed(projectId: string): Promise<boolean>;
}

/** The database's limit. No forge comes near it. */
const numberMax = 2 ** 31 - 1;
const forges: readonly string[] = forgeNames.filter((name) => name !== "local");

/**
 * Receives the forges' webhooks. A signed webhook is only a hint to poll: its content is not trusted, and the current
 * state is then read from the forge.
 */
export function forgeHooksPlugin(deps: HookDeps): (app: FastifyInstance) => Promise<void> {
  async function hear(projectId: string, event: Event | null): Promise<boolean> {
    const issue = issueIn(event);
    if (issue !== null) return mayAsk(event) && deps.askedOnIssue({ projectId, number: issue });
    const number = numberIn(event);
    if (number === null) return isPush(event) && deps.pushed(projectId);
    await deps.noticed({ projectId, number, isMerged: isMerge(event) });
    return true;
  }

  return async (app) =>
    signedRoute<{ forge: string; projectId: string }>(app, {
      path: "/hooks/:forge/:projectId",
      unknownBytes: deps.unknownBytes,
      refusal: "The webhook is not signed with this project's secret.",
      async mayBeSigned({ params: { forge, projectId }, headers }) {
        const isLikely = forges.includes(forge) && maySign(forge, headers, hookSecretOf(deps.secret, projectId));
        return isLikely && deps.isProject(projectId);
      },
      verify: ({ params: { forge, projectId }, headers }, body) =>
        isSigned(forge, headers, body, hookSecretOf(deps.secret, projectId)),
      answer: async ({ params: { projectId } }, reply, { body }) =>
        reply.code(202).send({ status: (await hear(projectId, parse(body))) ? "noticed" : "ignored" }),
    });
}

/** The pull request's number in an event, or null if the event is about something else. */
function numberIn(event: Event | null): number | null {
  const candidates = [
    event?.pull_request?.number,
    event?.issue?.number,
    event?.merge_request?.iid,
    event?.object_attributes?.iid,
    event?.number,
    event?.pullrequest?.id,
    event?.resource?.pullRequestId,
    event?.resource?.pullRequest?.pullRequestId,
  ];
  return candidates.find(isPullNumber) ?? null;
}

/**
 * GitHub (octokit/webhooks 3a58428 of 2026-06-22, pull_request/closed.schema.json) and Gitea: the action `closed` with
 * `pull_request.merged`. GitLab: the action `merge`. Bitbucket: the state `MERGED`. Azure DevOps: the status `completed`
 * of its resource (Microsoft's "Service hook events", Pull request merge attempted).
 */
function isMerge(event: Event | null): boolean {
  if (event?.pull_request?.merged === true) return event.action === "closed";
  if (event?.resource?.status === "completed") return true;
  return event?.object_attributes?.action === "merge" || event?.pullrequest?.state === "MERGED";
}

/**
 * The issue's number in an event about an issue or a comment on it, and null for pull requests. The shapes: GitHub's
 * `issues` and `issue_comment` (octokit/webhooks 0ec20b7), GitLab's `Issue Hook` and `Note Hook` (gitlabhq 88d3e50,
 * webhook_events.md), Gitea's IssuePayload and IssueCommentPayload (v1.27.2, modules/structs/hook.go).
 */
function issueIn(event: Event | null): number | null {
  const isPull = Boolean(event?.issue?.pull_request ?? event?.pull_request ?? event?.merge_request) || event?.is_pull;
  if (isPull === true) return null;
  const isGitlabIssue = event?.object_kind === "issue" || event?.object_kind === "work_item";
  const number = event?.issue?.number ?? event?.issue?.iid ?? (isGitlabIssue ? event?.object_attributes?.iid : null);
  return isPullNumber(number) ? number : null;
}

/** Whether the event names Emend. Only a filter: what counts is then read from the forge. */
function mayAsk(event: Event | null): boolean {
  const said = event?.comment?.body ?? event?.object_attributes?.note;
  if (typeof said === "string") return /@emend\b/i.test(said);
  const labels = [event?.issue?.labels, event?.labels, event?.object_attributes?.labels].flat() as (
    | Label
    | undefined
  )[];
  return labels.some((label) => [label?.name, label?.title].some((name) => /^emend$/i.test(String(name ?? ""))));
}

type Label = { name?: unknown; title?: unknown } | null;

function isPullNumber(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= numberMax;
}

/** All forges except Bitbucket and Azure DevOps have the same form for a push. */
function isPush(event: Event | null): boolean {
  if (Array.isArray(event?.resource?.refUpdates)) return true;
  if (Array.isArray(event?.push?.changes)) return true;
  return typeof event?.ref === "string" && /^refs\/(heads|tags)\//.test(event.ref);
}

type Event = Partial<Record<string, Part>> & {
  number?: unknown;
  ref?: unknown;
  action?: unknown;
  object_kind?: unknown;
  is_pull?: unknown;
};

interface Part {
  number?: unknown;
  iid?: unknown;
  id?: unknown;
  action?: unknown;
  state?: unknown;
  merged?: unknown;
  changes?: unknown;
  status?: unknown;
  pullRequestId?: unknown;
  pullRequest?: { pullRequestId?: unknown } | null;
  refUpdates?: unknown;
  pull_request?: unknown;
  body?: unknown;
  note?: unknown;
  labels?: unknown;
}

function parse(body: Buffer): Event | null {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Event) : null;
  } catch {
    return null;
  }
}

/** A project's webhook secret. It is derived, so nothing is stored and every node knows it. */
export function hookSecretOf(secret: string, projectId: string): string {
  return createHmac("sha256", secret).update(`emend forge webhook ${projectId}`).digest("hex");
}

/** Whether to read the body at all: the secret of GitLab or Azure DevOps is correct, or there is a header that may be a signature. */
function maySign(
  forge: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  secret: string,
): boolean {
  if (forge === "gitlab") return isSame(headers["x-gitlab-token"], secret);
  if (forge === "azure-devops") return isSame(passwordIn(headers.authorization), secret);
  if (forge === "bitbucket") return /^sha256=[0-9a-f]{64}$/.test(String(headers["x-hub-signature"]));
  if (forge === "github") return /^sha256=[0-9a-f]{64}$/.test(String(headers["x-hub-signature-256"]));
  return /^[0-9a-f]{64}$/.test(String(headers["x-gitea-signature"] ?? headers["x-forgejo-signature"]));
}

/** GitLab and Azure DevOps send the secret itself; the others sign the body with it. */
function isSigned(
  forge: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
  secret: string,
): boolean {
  if (forge === "gitlab") return isSame(headers["x-gitlab-token"], secret);
  if (forge === "azure-devops") return isSame(passwordIn(headers.authorization), secret);
  const signature = createHmac("sha256", secret).update(body).digest("hex");
  if (forge === "bitbucket") return isSame(headers["x-hub-signature"], `sha256=${signature}`);
  if (forge === "github") return isSame(headers["x-hub-signature-256"], `sha256=${signature}`);
  return isSame(headers["x-gitea-signature"] ?? headers["x-forgejo-signature"], signature);
}

/** Azure DevOps signs nothing. Its service hooks can send a user name and a password. */
function passwordIn(authorization: string | string[] | undefined): string | undefined {
  const [, pair] = /^Basic ([\w+/]{1,2000}={0,2})$/i.exec(String(authorization)) ?? [];
  const text = Buffer.from(pair ?? "", "base64").toString("utf8");
  return text.includes(":") ? text.slice(text.indexOf(":") + 1) : undefined;
}

function isSame(given: string | string[] | undefined, wanted: string): boolean {
  if (typeof given !== "string") return false;
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}
