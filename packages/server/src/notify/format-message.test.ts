import { expect, test } from "vitest";
import { formatMessage } from "./deliveries.ts";
import { type WebhookMessage, webhookEvents } from "./webhooks.ts";

const message: WebhookMessage = {
  type: "job.failed",
  timestamp: "2026-03-02T09:15:00.000Z",
  data: {
    projectId: "prj_1",
    job: {
      id: "job_1",
      status: "failed",
      source: { repository: "https://github.com/acme/docs", ref: null },
      model: "emend/rules",
      prLink: null,
      createdAt: "2026-03-02T09:14:00.000Z",
      archivedAt: null,
    },
    title: null,
    failure: { code: "timeout", message: "Too long." },
    pullRequest: null,
  },
};
const pullRequest = { number: 1, url: "https://git.test/pull/1", state: "open", draft: false } as const;

function textOf(more: Partial<WebhookMessage["data"]> & { type?: WebhookMessage["type"] }): string {
  const { type = message.type, ...data } = more;
  const told = { ...message, type, data: { ...message.data, ...data } } as WebhookMessage;
  return JSON.parse(formatMessage(told, "slack")).text;
}

test("standard is the message itself, and of a pull request what is documented", () => {
  expect(JSON.parse(formatMessage(message, "standard"))).toEqual(message);
  const stored = { ...pullRequest, body: "long", head: "emend/job_1", base: "main" };
  const told = { ...message, data: { ...message.data, pullRequest: stored } };
  expect(JSON.parse(formatMessage(told, "standard")).data.pullRequest).toEqual(pullRequest);
});

test("slack is one sentence with the link, for each event", () => {
  const done = { title: "Rename the guide", failure: null, pullRequest };
  const link = "<https://git.test/pull/1|Rename the guide>";
  const inDocs = "in <https://github.com/acme/docs|acme/docs>";
  expect(textOf({})).toBe(`*job_1* failed ${inDocs}: Too long (timeout).`);
  expect(textOf({ title: done.title, pullRequest })).toBe(`${link} failed: Too long (timeout).`);
  expect(textOf({ ...done, type: "job.completed" })).toBe(`${link} is done.`);
  expect(textOf({ type: "job.completed", failure: null })).toBe(`*job_1* is done ${inDocs}: nothing was changed.`);
  expect(textOf({ ...done, type: "job.archived" })).toBe(`${link} was archived.`);
  expect(textOf({ ...done, type: "pull_request.merged" })).toBe(`${link} was merged.`);
  expect(textOf({ ...done, type: "pull_request.closed" })).toBe(`${link} was closed without a merge.`);
});

test.each(webhookEvents)(
  "the sentence of %s stays one line with one link, whatever a model or a forge wrote",
  (type) => {
    const hostile = "<!channel> a|b & <https://evil.test|c>\n*bold* \u2028 `x`. Second sentence";
    const url = "https://git.test/1?a=<b>|";
    const failure = { code: "timeout", message: `${hostile}\n${"long ".repeat(500)}` } as const;
    const text = textOf({ type, title: hostile, failure, pullRequest: { ...pullRequest, url } });
    expect(text).not.toMatch(/[\n\u2028]/);
    expect(text.match(/<[^>]*>/g)).toHaveLength(1);
    expect(text).toContain("<https://git.test/1?a=%3Cb%3E%7C|&lt;!channel&gt; a b &amp;");
    expect(text.length).toBeLessThan(1000);
  },
);

test("an address that is none of the web is no link", () => {
  const source = { repository: "file:///srv/docs.git", ref: null };
  expect(textOf({ job: { ...message.data.job, source } })).toBe("*job_1* failed: Too long (timeout).");
});
