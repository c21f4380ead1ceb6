import { expect, test } from "vitest";
import { formatMessage } from "./format-message.ts";
import type { WebhookMessage } from "./webhook.ts";

const message: WebhookMessage = {
  type: "job.failed",
  timestamp: "2026-03-02T09:15:00.000Z",
  data: {
    projectId: "prj_1",
    job: { id: "job_1", status: "failed", prLink: null },
    title: null,
    failure: { code: "timeout", message: "Too long." },
    pullRequest: null,
  },
};

test("standard is the message itself", () => {
  expect(JSON.parse(formatMessage(message, "standard"))).toEqual(message);
});

test("slack is a sentence with a link, in which a title cannot mention, link or break out", () => {
  expect(JSON.parse(formatMessage(message, "slack"))).toEqual({ text: "*job_1* failed: Too long. (timeout)" });
  const merged: WebhookMessage = {
    ...message,
    type: "pull_request.merged",
    data: {
      ...message.data,
      title: "<!channel> a|b & <https://evil.test|c>",
      pullRequest: { number: 1, url: "https://git.test/1?a=<b>|", state: "merged", draft: false },
    },
  };
  expect(JSON.parse(formatMessage(merged, "slack"))).toEqual({
    text: "<https://git.test/1?a=%3Cb%3E%7C|&lt;!channel&gt; a b &amp; &lt;https://evil.test c&gt;> was merged",
  });
});
