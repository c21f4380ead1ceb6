import type { AgentJob } from "@emend/contract";
import { expect, test } from "vitest";
import { type ChatFacts, formatMessage } from "./deliveries.ts";
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

const facts = { project: "Docs", change: null, introduced: 0, fixed: 0, publicUrl: "https://emend.test" };
const page = "<https://emend.test/app/jobs/job_1|Open in Emend>";

function textOf(
  more: Partial<WebhookMessage["data"]> & { type?: WebhookMessage["type"] },
  found: Partial<typeof facts> | Pick<ChatFacts, "change"> = {},
): string {
  const { type = message.type, ...data } = more;
  const told = { ...message, type, data: { ...message.data, ...data } } as WebhookMessage;
  return JSON.parse(formatMessage(told, "slack", { ...facts, ...found })).text;
}

test("standard is the message itself, and of a pull request what is documented", () => {
  expect(JSON.parse(formatMessage(message, "standard", facts))).toEqual(message);
  const stored = { ...pullRequest, body: "long", head: "emend/job_1", base: "main" };
  const told = { ...message, data: { ...message.data, pullRequest: stored } };
  expect(JSON.parse(formatMessage(told, "standard", facts)).data.pullRequest).toEqual(pullRequest);
});

test("slack names the project and links the pull request and the job, for each event", () => {
  const done = { title: "Rename the guide", failure: null, pullRequest };
  const link = "<https://git.test/pull/1|Rename the guide>";
  expect(textOf({})).toBe(`*job_1* failed in *Docs*: Too long (timeout).\n${page}`);
  expect(textOf({ title: done.title, pullRequest })).toBe(`${link} failed in *Docs*: Too long (timeout).\n${page}`);
  expect(textOf({ type: "job.completed", failure: null })).toBe(
    `*job_1* is done in *Docs*: nothing was changed.\n${page}`,
  );
  expect(textOf({ ...done, type: "job.archived" })).toBe(`${link} was archived in *Docs*.\n${page}`);
  expect(textOf({ ...done, type: "pull_request.merged" })).toBe(`${link} was merged in *Docs*.\n${page}`);
  expect(textOf({ ...done, type: "pull_request.closed" })).toBe(
    `${link} was closed without a merge in *Docs*.\n${page}`,
  );
});

test("slack shows a question with its options, and nothing in it mentions or links", () => {
  const { projectId, job } = message.data as { projectId: string; job: AgentJob };
  const data = { projectId, job, question: "Which <port>?", options: ["80", "<!channel>"], answerUntil: "2026-03-02" };
  const told: WebhookMessage = { type: "job.question", timestamp: message.timestamp, data };
  const { text } = JSON.parse(formatMessage(told, "slack", facts));
  const link = "<https://emend.test/app/jobs/job_1|Answer in Emend>";
  expect(text).toBe(`A job in *Docs* asks: Which &lt;port&gt;?\n• 80\n• &lt;!channel&gt;\n${link}`);
});

test("slack shows what a person must approve, and nothing in it mentions or links", () => {
  const { projectId, job } = message.data as { projectId: string; job: AgentJob };
  const waiting = {
    for: "approval" as const,
    message: "Publish <it>?",
    constructs: [],
    constructCount: 1,
    until: "2026-03-02",
  };
  const told: WebhookMessage = { type: "job.waiting", timestamp: message.timestamp, data: { projectId, job, waiting } };
  const { text } = JSON.parse(formatMessage(told, "slack", facts));
  const link = "<https://emend.test/app/jobs/job_1|Publish it or not>";
  expect(text).toBe(`A job in *Docs* waits for you: Publish &lt;it&gt;?\n${link}`);
});

test("slack counts what a job changed and found", () => {
  const done = { title: "Rename the guide", failure: null, pullRequest, type: "job.completed" } as const;
  const one = { files: 1, additions: 12, deletions: 4 };
  const counted = (found: object) => textOf(done, found).split("\n")[1];
  expect(counted({ change: one })).toBe(`1 file changed, +12 −4 · no new problems · ${page}`);
  expect(counted({ change: { ...one, files: 3 }, introduced: 2, fixed: 5 })).toBe(
    `3 files changed, +12 −4 · 2 new problems · 5 fixed · ${page}`,
  );
  expect(counted({ change: one, introduced: 1 })).toContain("1 new problem ·");
});

// Questions have their own texts, tested above.
const events = webhookEvents.filter((type) => type !== "job.question" && type !== "job.waiting");

test.each(events)("%s keeps its lines and links, whatever a model, a person or a forge wrote", (type) => {
  const hostile = "<!channel> a|b & <https://evil.test|c>\n*bold* \u2028 `x`. Second sentence";
  const url = "https://git.test/1?a=<b>|";
  const failure = { code: "timeout", message: `${hostile}\n${"long ".repeat(500)}` } as const;
  const text = textOf({ type, title: hostile, failure, pullRequest: { ...pullRequest, url } }, { project: hostile });
  expect(text.match(/[\n\u2028]/g)).toEqual(["\n"]);
  expect(text.match(/<[^>]*>/g)).toHaveLength(2);
  expect(text).toContain("<https://git.test/1?a=%3Cb%3E%7C|&lt;!channel&gt; a b &amp;");
  expect(text.length).toBeLessThan(1500);
});

test("only web addresses are linked", () => {
  const job = { ...message.data.job, prLink: "file:///srv/docs.git" };
  expect(textOf({ job })).toBe(`*job_1* failed in *Docs*: Too long (timeout).\n${page}`);
});
