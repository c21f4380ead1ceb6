import { assertNever } from "../lib/assert-never.ts";
import type { WebhookFormat, WebhookMessage } from "./webhook.ts";

/** The body that is posted. */
export function formatMessage(message: WebhookMessage, format: WebhookFormat): string {
  switch (format) {
    case "standard":
      return JSON.stringify(asDocumented(message));
    case "slack":
      return JSON.stringify({ text: slackText(message) });
    default:
      return assertNever(format);
  }
}

/** The database stores what it has; of a pull request that may be more than receivers are told. */
export function asDocumented(message: WebhookMessage): WebhookMessage {
  const { pullRequest } = message.data;
  if (!pullRequest) return message;
  const { number, url, state, draft } = pullRequest;
  return { ...message, data: { ...message.data, pullRequest: { number, url, state, draft } } };
}

/** One sentence, and in it the link: to the pull request, or else to the repository. */
function slackText({ type, data }: WebhookMessage): string {
  const { job } = data;
  const name = escapeSlack(data.title ?? job.id);
  const pull = linkTo(data.pullRequest?.url ?? job.prLink, name);
  const subject = pull ?? `*${name}*`;
  const repository = linkTo(job.source.repository, escapeSlack(repositoryName(job.source.repository)));
  const place = pull === null && repository !== null ? ` in ${repository}` : "";
  return `${subject} ${words[type]}${place}${whyOf(type, data)}.`;
}

const words: Record<WebhookMessage["type"], string> = {
  "job.completed": "is done",
  "job.failed": "failed",
  "job.archived": "was archived",
  "pull_request.merged": "was merged",
  "pull_request.closed": "was closed without a merge",
};

function whyOf(type: WebhookMessage["type"], data: WebhookMessage["data"]): string {
  if (type === "job.failed" && data.failure) {
    const message = escapeSlack(data.failure.message).replace(/[.!]+$/, "");
    return `: ${message} (${data.failure.code})`;
  }
  return type === "job.completed" && data.pullRequest === null && data.job.prLink === null
    ? ": nothing was changed"
    : "";
}

function linkTo(url: string | null, text: string): string | null {
  if (url === null || !/^https?:/.test(url)) return null;
  return `<${url.replace(/[<>|]/g, encodeURIComponent)}|${text}>`;
}

function repositoryName(url: string): string {
  return URL.parse(url)?.pathname.replace(/^\/|\.git$/g, "") || url;
}

const textMax = 300;

/** Nothing that a model wrote may mention a channel, hide an address or break the line. */
function escapeSlack(text: string): string {
  const short = text.length > textMax ? `${text.slice(0, textMax)}…` : text;
  return short
    .toWellFormed()
    .replaceAll(/\s+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/[|*]/g, " ");
}
