import { wholeChange } from "@emend/contract";
import { describe, expect, it } from "vitest";
import { listChecks } from "./draft-pull-request.ts";
import { commitMessage } from "./publication.ts";
import {
  type BodyInput,
  followUpBody,
  hasMarker,
  isSealed,
  pullRequestBody,
  withoutNotice,
} from "./pull-request-body.ts";

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
  job: {
    id: "job_1",
    url: "https://emend.test/job/job_1",
    prompt: "Move guides/auth to security/authentication.",
    followUps: [],
  },
  model: "emend/rules",
  usage: { steps: 3, inputTokens: 12_345, outputTokens: 678, cachedInputTokens: 0, costUsd: 0 },
  sources: [],
  template: null,
  summary: "Moved 1 page, rewrote 11 links, added 1 redirect.",
  draft: false,
  files: [
    { path: "security/authentication.md", kind: "renamed", from: "guides/auth.md" },
    { path: "guides/old.md", kind: "deleted" },
  ],
  checks: listChecks(figures),
  introduced: [],
};

describe("a pull request's body", () => {
  it("shows pages as readers see them, and a path is only words", () => {
    const [before, after] = ["https://emend.test/pictures/1", "https://emend.test/pictures/2"];
    const pictures = [
      { path: "guides/a](b)|c.md", before, after },
      { path: "new.md", before: null, after },
    ];
    const body = pullRequestBody({ ...input, pictures });
    expect(body).toContain(
      `| ![guides/a(b)c.md before the change](${before}) | ![guides/a(b)c.md after the change](${after}) |`,
    );
    expect(body).toContain(`| The page is new. | ![new.md after the change](${after}) |`);
    expect(pullRequestBody(input)).not.toContain("### Pages");
  });

  it("says what and why, what was touched and checked, by whom, and for which job", () => {
    const body = pullRequestBody(input);
    for (const words of [
      "Moved 1 page, rewrote 11 links, added 1 redirect.",
      "Move guides/auth to security/authentication.",
      "- renamed `guides/auth.md` → `security/authentication.md`",
      "- deleted `guides/old.md`",
      "**Findings**: 1 new error; 7 older ones",
      "`emend/rules`, which is deterministic",
      "[The job](https://emend.test/job/job_1)",
    ]) {
      expect(body).toContain(words);
    }
    expect(hasMarker(body, "job_1")).toBe(true);
    expect(hasMarker(body, "job_2")).toBe(false);
  });

  it("says first why it needs a review, and names each new finding", () => {
    const body = pullRequestBody({ ...input, draft: true, draftReason: "A limit was reached.", introduced: [finding] });
    expect(body.startsWith("> **Needs review:** A limit was reached.")).toBe(true);
    expect(body).toContain("- error `a.md:3` no such page");
    // Once the checks pass, the reason goes, and the text is still Emend's own.
    const mended = withoutNotice(body);
    expect(mended).not.toContain("Needs review");
    expect(isSealed(mended)).toBe(true);
    expect(hasMarker(mended, "job_1")).toBe(true);
    const edited = body.replace("A limit", "My limit");
    expect(withoutNotice(edited)).toBe(edited);
  });

  it("names a language model as such", () => {
    expect(pullRequestBody({ ...input, model: "anthropic/claude" })).toContain(
      "Made by Emend with `anthropic/claude` in 3 steps: 12,345 tokens in, 678 out.",
    );
    const usage = { ...input.usage, cachedInputTokens: 10_000, costUsd: 0.0321 };
    expect(pullRequestBody({ ...input, model: "a/b", usage })).toContain("(10,000 of them cached), 678 out, $0.0321.");
  });

  it("shows a disputed finding with the agent's reason, without mentions", () => {
    const dispute = "the host serves this address, ask @ann; fixes #11";
    const body = pullRequestBody({ ...input, introduced: [{ ...finding, dispute }] });
    expect(body).toMatch(
      /error `a\.md:3` no such page\n {2}The agent disagrees: the host serves this address, ask `@ann`/,
    );
    expect(body).not.toMatch(/[^`]#11/);
  });

  it("names no line of a finding on the whole change", () => {
    const body = pullRequestBody({ ...input, introduced: [{ ...finding, path: wholeChange, line: 1 }] });
    expect(body).toContain("- error the change: no such page");
    expect(body).not.toContain("the change:1");
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
    // Its signature and its marker.
    expect(body.match(/<!--/g)).toHaveLength(2);
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

  it.each([
    ["emoji", "😀".repeat(10_000), null],
    ["HTML", "<b>".repeat(5_000), null],
    ["a link", `[x](https://evil.test/${"y".repeat(9_000)})`, null],
    ["a long template", "Said.", `# Template\n\n${"z".repeat(5_000)}\n`],
  ])("keeps its summary, its origin and its marker on a forge that takes little: %s", (_, summary, template) => {
    const place = { repository: null, repositoryUrl: "https://dev.azure.com/a/b/_git/c", forge: "azure-devops" };
    const at = { ...place, line: 1, commit: "0123456789abcdef" };
    const sources = Array.from({ length: 40 }, (_, index) => ({ ...at, path: `src/${"p".repeat(200)}${index}.ts` }));
    const job = { ...input.job, prompt: `Do\n${"```\n".repeat(900)}` };
    const body = pullRequestBody({ ...input, lengthMax: 4_000, summary, template, job, sources });
    expect(body.length).toBeLessThanOrEqual(4_000);
    expect(body.isWellFormed()).toBe(true);
    expect(body).toContain(summary.slice(0, 3));
    expect(body).toContain("has what does not fit here");
    expect(body).toContain("Made by");
    expect(body.trimEnd().endsWith("<!-- emend:job=job_1 -->")).toBe(true);
    expect(isSealed(body)).toBe(true);
    // No block is left open above the marker.
    expect((body.match(/^`{3,}/gm) ?? []).length % 2).toBe(0);
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

describe("sources", () => {
  const source = { repository: "api", path: "src/a (b).ts", line: 12, commit: "0123456789abcdef" };
  const bodyWith = (forge: string, repositoryUrl: string) =>
    pullRequestBody({ ...input, sources: [{ ...source, forge, repositoryUrl }] });

  it.each([
    [
      "github",
      "https://github.com/acme/api",
      "https://github.com/acme/api/blob/0123456789abcdef/src/a%20%28b%29.ts#L12",
    ],
    [
      "azure-devops",
      "https://dev.azure.com/a/b/_git/c",
      "https://dev.azure.com/a/b/_git/c?path=/src/a%20%28b%29.ts&version=GC0123456789abcdef&line=12&lineEnd=13&lineStartColumn=1&lineEndColumn=1",
    ],
    ["gitlab", "https://gl.test/a/b", "https://gl.test/a/b/-/blob/0123456789abcdef/src/a%20%28b%29.ts#L12"],
    [
      "bitbucket",
      "https://bitbucket.org/a/b",
      "https://bitbucket.org/a/b/src/0123456789abcdef/src/a%20%28b%29.ts#lines-12",
    ],
    ["gitea", "https://gt.test/a/b", "https://gt.test/a/b/src/commit/0123456789abcdef/src/a%20%28b%29.ts#L12"],
  ])("on %s are links to the lines at the commit that was read", (forge, repositoryUrl, url) => {
    expect(bodyWith(forge, repositoryUrl)).toContain(`- [\`api/src/a (b).ts:12\`](${url}) at \`0123456789\``);
  });

  it("on the local forge are named without a link, since it has no page for files", () => {
    expect(bodyWith("local", "http://127.0.0.1/git/prj_1.git")).toContain("- `api/src/a (b).ts:12` at `0123456789`");
  });
});

describe("a repository's template", () => {
  const template = [
    "Thank you!",
    "",
    "## What does this change?",
    "",
    "Describe your change here.",
    "",
    "## Why",
    "",
    "## How was this tested?",
    "",
    "Tell us.",
    "",
    "## Checklist",
    "",
    "- [ ] I read the guide",
  ].join("\n");

  it("keeps its sections, with the summary and the checks where they belong", () => {
    const body = pullRequestBody({ ...input, template, summary: "Moved a page.\n\n## Why\n\nIt was asked for." });
    expect(body).toContain("Thank you!\n\n## What does this change?\n\nMoved a page.\n\n## Why\n\nIt was asked for.\n");
    expect(body).toMatch(/## How was this tested\?\n\n- ✓ \*\*Policy\*\*: All/);
    expect(body).toContain("## Checklist\n\n- [ ] I read the guide");
    expect(body).not.toMatch(/Describe your change|Tell us\.|### Checks/);
    expect(body).toContain("### Touched");
  });

  it("without a place for it has the summary first, and what it does not answer as it was", () => {
    const body = pullRequestBody({ ...input, template: "## Ticket\n\nNone", checks: [] });
    expect(body.startsWith(`${input.summary}\n\n## Ticket\n\nNone\n\n### Touched`)).toBe(true);
  });
});

it("lists pages apart that a request does not name, where it names others", () => {
  const files = ["guides/auth.mdx", "guides/keys.mdx", "guides/limits.mdx", "docs.json"].map((path) => ({
    path,
    kind: "changed" as const,
    added: 1,
    removed: 0,
  }));
  const job = { ...input.job, prompt: "Say in guides/auth.mdx what a key is." };
  const summary = "Says what a key is. Links to it from keys.mdx, which had another word.";
  const model = "anthropic/claude";
  const body = pullRequestBody({ ...input, model, job, files, summary });
  expect(body).toContain(
    "### Touched\n\n- changed `guides/auth.mdx` +1 −0\n- changed `docs.json` +1 −0\n\nThe request does not name these pages:\n\n" +
      "- changed `guides/keys.mdx` +1 −0: Links to it from keys.mdx, which had another word.\n" +
      "- changed `guides/limits.mdx` +1 −0: the summary does not name it",
  );
  const unnamed = pullRequestBody({ ...input, model, job: { ...job, prompt: "Explain it better" }, files, summary });
  expect(unnamed).not.toContain("does not name");
  // The rules change just what is asked.
  expect(pullRequestBody({ ...input, job, files, summary })).not.toContain("does not name");
});

describe("a follow-up's words", () => {
  const rounds = [{ message: 0, title: "Move a page", summary: "Moved 1 page.", failure: null }];
  const asked = {
    ...input,
    job: { ...input.job, followUps: ["Say it shorter."] },
    rounds,
    summary: "Said it shorter.",
  };

  it("are listed once and in order in the new text of the whole pull request", () => {
    const body = followUpBody(pullRequestBody(input).replaceAll("\n", "\r\n"), asked) ?? "";
    expect(
      body.startsWith(
        `Moved 1 page.\n\n### What was asked, in order\n\n**1.** Asked:\n\n> ${input.job.prompt}\n\nDone, as`,
      ),
    ).toBe(true);
    expect(body).toContain("Done, as summarized above.\n\n**2.** Asked:\n\n> Say it shorter.");
    expect(body).not.toContain("### Asked for");
    expect(body).toContain("> Say it shorter.\n\nSaid it shorter.\n\n### Checks");
    expect(body.match(/### Touched/g)).toHaveLength(1);
    expect(hasMarker(body, "job_1")).toBe(true);
    expect(followUpBody(body, asked)).toBeNull();

    const again = followUpBody(body, {
      ...asked,
      job: { ...asked.job, followUps: ["Say it shorter.", "Do nothing.", "Order a pizza.", "Be clearer."] },
      rounds: [
        ...rounds,
        { message: 1, title: "Say it shorter", summary: "Said it shorter.", failure: null },
        { message: 2, title: null, summary: "It is as it should be.", failure: null },
        { message: 3, title: null, summary: "No form fits.", failure: "instruction_not_understood" },
      ],
      summary: "Made it clear.",
    });
    const told = [
      "Said it shorter.",
      "Do nothing.\n\nNo changes: It is as it should be.",
      "Order a pizza.\n\nFailed: No form fits.",
      "Be clearer.\n\nMade it clear.",
    ].map((words) => again?.indexOf(words) ?? -1);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told[0]).toBeGreaterThan(0);
  });

  it("come after a text that a person has changed, above or below", () => {
    const whole = pullRequestBody(input);
    const edits = [whole.replace("### Touched", "A person's remark.\n\n### Touched"), `${whole}\nA person's remark.`];
    for (const before of edits) {
      const body = followUpBody(before, asked) ?? "";
      expect(body.indexOf("## Follow-up\n\n> Say it shorter.\n\nSaid it shorter.")).toBeGreaterThan(
        body.indexOf("A person's remark."),
      );
      expect(hasMarker(body, "job_1")).toBe(true);
      expect(followUpBody(body, asked)).toBeNull();
      const again = { ...asked, job: { ...asked.job, followUps: ["Say it shorter.", "And clearer."] } };
      expect(followUpBody(body, again)).toMatch(/A person's remark[\s\S]+And clearer/);
    }
  });

  it("give way where a forge would take no more", () => {
    const full = `${"x".repeat(59_500)}\n<!-- emend:job=job_1 -->\n`;
    const body = followUpBody(full, { ...asked, summary: "y".repeat(5_000) }) ?? "";
    expect(body.length).toBeLessThanOrEqual(60_000);
    expect(body).toContain("has another message");
    // No room is left, not even for that: what a person wrote stays.
    expect(followUpBody(full, { ...asked, lengthMax: full.length + 20 })).toBeNull();
    expect(followUpBody(body, asked)).toBeNull();
    const many = Array.from({ length: 60 }, (_, index) => `${index} ${"z".repeat(3_000)}`);
    const long = pullRequestBody({ ...asked, job: { ...asked.job, followUps: many } });
    expect(long.length).toBeLessThanOrEqual(60_000);
    expect(long).toContain("50 earlier messages are not shown.");
  });
});

it("words that would load or link to something are shown as text", () => {
  const body = pullRequestBody({ ...input, summary: "See [this](https://evil.example/?d=canary)." });
  expect(body.startsWith("```text\nSee [this](https://evil.example/?d=canary).\n```")).toBe(true);
});
