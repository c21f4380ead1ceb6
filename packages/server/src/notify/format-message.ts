import { assertNever } from "../lib/assert-never.ts";
import type { WebhookFormat, WebhookMessage } from "./webhook.ts";

/** The body that is posted. */
export function formatMessage(message: WebhookMessage, format: WebhookFormat): string {
  switch (format) {
    case "standard":
      return JSON.stringify(message);
    case "slack":
      return JSON.stringify({ text: slackText(message) });
    default:
      return assertNever(format);
  }
}

function slackText({ type, data }: WebhookMessage): string {
  const url = data.pullRequest?.url ?? data.job.prLink;
  const title = escapeSlack(data.title ?? data.job.id);
  const subject =
    url === null || !/^https?:/.test(url) ? `*${title}*` : `<${url.replace(/[<>|]/g, encodeURIComponent)}|${title}>`;
  const why =
    data.failure && type === "job.failed" ? `: ${escapeSlack(data.failure.message)} (${data.failure.code})` : "";
  return `${subject} ${words[type]}${why}`;
}

const words: Record<WebhookMessage["type"], string> = {
  "job.completed": "is done",
  "job.failed": "failed",
  "job.archived": "was archived",
  "pull_request.merged": "was merged",
  "pull_request.closed": "was closed without a merge",
};

/** Nothing that a model wrote may mention a channel or hide an address. */
function escapeSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll(/[|*]/g, " ");
}
