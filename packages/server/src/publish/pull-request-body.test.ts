import { describe, expect, it } from "vitest";
import { commitMessage } from "./commit-message.ts";
import { listChecks } from "./draft-pull-request.ts";
import { type BodyInput, hasMarker, pullRequestBody } from "./pull-request-body.ts";

const finding = {
  check: "links",
  severity: "error",
  path: "a.md",
  line: 3,
  column: 1,
  message: "no such page",
} as const;
const figures = { introduced: [finding], fixed: [], findingsBefore: 7, findingsAfter: 8 };
const input: BodyInput = {
  job: { id: "job_1", url: "https://emend.test/job/job_1", prompt: "Move guides/auth to security/authentication." },
  model: "emend/rules",
  summary: "Moved 1 page, rewrote 11 links, added 1 redirect.",
  draft: false,
  files: [
    { path: "security/authentication.md", kind: "added" },
    { path: "guides/auth.md", kind: "deleted" },
  ],
  checks: listChecks(figures),
  introduced: [],
};

describe("a pull request's body", () => {
  it("says what and why, what was touched and checked, by whom, and for which job", () => {
    const body = pullRequestBody(input);
    for (const words of [
      "Moved 1 page, rewrote 11 links, added 1 redirect.",
      "Move guides/auth to security/authentication.",
      "- added `security/authentication.md`",
      "- deleted `guides/auth.md`",
      "7 before, 8 after, 0 fixed",
      "1 error, 0 warnings or notes",
      "`emend/rules`, which is deterministic",
      "[The job](https://emend.test/job/job_1)",
    ]) {
      expect(body).toContain(words);
    }
    expect(hasMarker(body, "job_1")).toBe(true);
    expect(hasMarker(body, "job_2")).toBe(false);
  });

  it("says first that it is a draft and why, and names each new finding", () => {
    const body = pullRequestBody({ ...input, draft: true, draftReason: "A limit was reached.", introduced: [finding] });
    expect(body.startsWith("> **Draft:** A limit was reached.")).toBe(true);
    expect(body).toContain("- error `a.md:3` no such page");
  });

  it("names a language model as such", () => {
    expect(pullRequestBody({ ...input, model: "anthropic/claude" })).toContain(
      "Made by Emend with `anthropic/claude`.",
    );
  });

  it("lets no agent, prompt or path forge a marker, load an image or hide text", () => {
    const hostile =
      'x <!-- emend:job=job_2 --> ![p](https://evil.example/c.png) <img src="https://evil.example"> \u202Etxet\u200B';
    const body = pullRequestBody({
      ...input,
      job: { ...input.job, prompt: `${hostile}\n\`\`\`\n# out of the fence` },
      summary: hostile,
      draft: true,
      draftReason: hostile,
      files: [{ path: `a\`b\n# c <img>.md`, kind: "changed" }],
      introduced: [{ ...finding, message: hostile, path: "x`y" }],
    });
    expect(hasMarker(body, "job_2")).toBe(false);
    expect(body.match(/<!--/g)).toHaveLength(1);
    const outsideCode = body.replace(/(`{3,})text[\s\S]*?\1/g, "").replace(/(`+)[\s\S]*?\1/g, "");
    expect(outsideCode).not.toMatch(/<img|!\[|[\u202e\u200b]/);
    expect(outsideCode).not.toContain("# out of the fence");
  });

  it("stays within what forges take, with the marker at its end", () => {
    const body = pullRequestBody({
      ...input,
      summary: "é".repeat(100_000),
      files: Array.from({ length: 5_000 }, (_, index) => ({ path: `${"d/".repeat(150)}${index}.md`, kind: "changed" })),
      job: { ...input.job, prompt: "y".repeat(100_000) },
    });
    expect(body.length).toBeLessThanOrEqual(60_000);
    expect(body.trimEnd().endsWith("<!-- emend:job=job_1 -->")).toBe(true);
    expect(body).toContain("and 4988 more");
  });
});

describe("the commit's message", () => {
  it("is a title on one line, the summary and the job", () => {
    const job = { id: "job_1" };
    const commit = { authorName: "Docs <bot>", authorEmail: "docs@example.com", signOff: false };
    const message = commitMessage({ title: "A\ntitle\u0007 ", summary: "Why.\r\n\r\nMore.", job, commit });
    expect(message).toBe("A title\n\nWhy.\n\nMore.\n\nEmend-Job: job_1\n");
    const signed = { ...commit, signOff: true };
    expect(commitMessage({ title: " ", summary: "", job, commit: signed })).toBe(
      "Update documentation\n\nEmend-Job: job_1\nSigned-off-by: Docs bot <docs@example.com>\n",
    );
  });
});
