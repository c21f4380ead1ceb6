import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay } from "@emend/tree";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPageReader } from "./page-reader.ts";
import type { Policy, ReviewInput } from "./review.ts";
import { reviewChange } from "./review-change.ts";

// Built from parts, so that secret scanners do not report this file.
const token = ["ghp", "Q".repeat(18) + "x7".repeat(9)].join("_");
const oldToken = ["ghp", "Z".repeat(18) + "y3".repeat(9)].join("_");

const built = "export const at = (x) => x + '.test'\n\n<img src={at('known')} />\n";

const pageReader = createPageReader();
let trees: TestTrees;
let base: CommitTree;

beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({
    "index.md": "# Home\n\nSee [the guide](guide.md) and [us](https://known.test/a).\n",
    "words.md": "# Words\n\nStart with other.md.\n",
    "long.md": `# Long\n\n${"Many words. ".repeat(200)} https://far.test/\n`,
    "guide.md": `# Guide\n\nUse ${oldToken} here.\n\nHidden\u200bspace.\n`,
    "other.md": "# Other\n\nSee https://Elsewhere.test/.\n",
    "built.mdx": built,
    "hidden.mdx":
      "# Hidden\n\n{/* send it to https://comment.test/ */}\n\n[spare]: https://spare.test/\n\n```sh\ncurl https://sample.test\n```\n",
    "script.js": "fetch('https://script.test/')\n",
    "escaped.md": `# Escaped\n\nUse ${oldToken.replace("_", "&#95;")} here.\n`,
  });
});
afterAll(() => trees.close());

async function review(
  files: Record<string, string | null>,
  words: Pick<ReviewInput, "ignore" | "title" | "summary" | "asked" | "knownSecrets" | "contextText"> = {},
  more: Partial<Policy> = {},
) {
  const overlay = await createOverlay(base);
  for (const [path, text] of Object.entries(files)) {
    if (text === null) await overlay.delete(path);
    else await overlay.set(path, Buffer.from(text));
  }
  const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000, ...more };
  return reviewChange({ base, overlay, policy, pageReader, ...words }, new AbortController().signal);
}

function checksOf(verdict: Awaited<ReturnType<typeof review>>): readonly string[] {
  return verdict.kind === "denied"
    ? []
    : verdict.introduced.map((finding) => `${finding.check} ${finding.path}:${finding.line}`);
}

it("passes a plain edit", async () => {
  expect(await review({ "guide.md": "# Guide\n\nNew words.\n" })).toMatchObject({ kind: "passed", introduced: [] });
});

it("flags a link that the change broke, the worst finding first", async () => {
  const verdict = await review({ "guide.md": null });
  if (verdict.kind === "denied") throw new Error("denied");
  expect(verdict.kind).toBe("flagged");
  expect(verdict.introduced[0]).toMatchObject({ severity: "error", path: "index.md", line: 3 });
  expect(verdict.findingsAfter).toBeGreaterThan(verdict.findingsBefore);
});

it("leaves out what the project's settings silence, but not what it checks besides the pages", async () => {
  const ignore = [
    { check: "broken-link", reason: "the build creates it" },
    { check: "deleted-page", reason: "no check of pages" },
  ];
  const broken = { "index.md": "# Home\n\n[a](gone.md) [us](https://known.test/a)\n" };
  expect(checksOf(await review(broken))).toEqual(["broken-link index.md:3"]);
  expect(checksOf(await review(broken, { ignore: ignore.slice(0, 1) }))).toEqual([]);
  expect(checksOf(await review({ "other.md": null }, { ignore }))).toContain("deleted-page other.md:1");
});

it("flags a page that moved while only the build can tell which links lead to it", async () => {
  const templated = await trees.open({
    "content/_index.md": "# Home\n\n[keys]({{site.baseurl}}/guides/keys)\n",
    "content/guides/keys.md": "# Keys\n",
  });
  const overlay = await createOverlay(templated);
  await overlay.delete("content/guides/keys.md");
  await overlay.set("content/keys.md", Buffer.from("# Keys\n"));
  const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000 };
  const input = { base: templated, overlay, policy, pageReader };
  const verdict = await reviewChange(input, new AbortController().signal);
  expect(verdict.kind).toBe("flagged");
  expect(checksOf(verdict)).toContain("unfollowed-links content/guides/keys.md:1");
});

it("denies what policy forbids before it looks at anything else", async () => {
  expect(await review({ ".github/workflows/x.yml": token })).toEqual({
    kind: "denied",
    violations: [{ path: ".github/workflows/x.yml", rule: "jobs don't change git and forge settings" }],
  });
});

it("denies an added secret, says where and what kind, and never its value", async () => {
  const verdict = await review({ "index.md": `# Home\n\nSee [the guide](guide.md).\n\nToken: ${token}\n` });
  expect(verdict).toEqual({
    kind: "denied",
    violations: [{ path: "index.md", rule: "line 5 contains text that looks like a secret (github)", isSecret: true }],
  });
  expect(JSON.stringify(verdict)).not.toContain(token);
});

it("denies a secret of the installation in any usual encoding, and a key of Emend's own", async () => {
  const known = "t0ken-of-the-forge-and-of-nobody";
  const own = `emend_${"aB3".repeat(16)}`;
  for (const text of [known, Buffer.from(`user:${known}`).toString("base64"), Buffer.from(own).toString("hex")]) {
    const verdict = await review({ "index.md": `# Home\n\n${text}\n` }, { knownSecrets: [known] });
    expect(verdict).toMatchObject({ kind: "denied", violations: [{ path: "index.md", isSecret: true }] });
    expect(JSON.stringify(verdict)).not.toContain(text);
  }
  expect(await review({ "index.md": `# Home\n\n${known}\n` })).toMatchObject({ kind: "passed" });
});

it.each([
  ["decimal references", (secret: string) => secret.replaceAll("_", "&#95;")],
  [
    "references of every letter",
    (secret: string) => secret.replaceAll(/./g, (one) => `&#x${one.charCodeAt(0).toString(16)};`),
  ],
  ["named references", (secret: string) => secret.replaceAll("_", "&lowbar;")],
  ["an escape of Markdown's", (secret: string) => secret.replaceAll("_", "\\_")],
  ["an escape of JSON's", (secret: string) => secret.replaceAll("_", "\\u005f")],
  ["percent signs", (secret: string) => secret.replaceAll("_", "%5F")],
])("denies a secret that its readers see, written in %s", async (_, written) => {
  const text = `# Home\n\nToken: ${written(token)}\n`;
  const verdict = await review({ "index.md": text });
  expect(verdict).toMatchObject({ kind: "denied", violations: [{ path: "index.md", isSecret: true }] });
  // One that was there before, in any spelling, does not count.
  expect(await review({ "escaped.md": `# Escaped\n\nUse now ${written(oldToken)}.\n` })).not.toMatchObject({
    kind: "denied",
  });
});

it("denies a secret in a file's name, and names neither", async () => {
  const known = "t0ken-of-the-forge-and-of-nobody";
  for (const path of [`a/${token}.md`, `${known}/x.md`, `${token.replace("_", "%5f")}.md`, `.github/${token}.yml`]) {
    const verdict = await review({ [path]: "# Home\n" }, { knownSecrets: [known] });
    expect(verdict).toMatchObject({ kind: "denied", violations: [{ path: "a file's name", isSecret: true }] });
    expect(JSON.stringify(verdict)).not.toContain(path);
  }
});

it("denies a copy of a secret that a page held, and tells of one that stays", async () => {
  const guide = `# Guide\n\nUse ${oldToken} there.\n`;
  expect(checksOf(await review({ "guide.md": guide }))).toContain("leaked-credential guide.md:3");
  const other = `# Other\n\nSee https://Elsewhere.test/. Use ${oldToken}.\n`;
  expect((await review({ "guide.md": guide, "other.md": other })).kind).toBe("denied");
  expect((await review({ "other.md": other })).kind).toBe("denied");
  const moved = await review({ "guide.md": "# Guide\n\nGone.\n", "other.md": other });
  expect(checksOf(moved)).toContain("leaked-credential other.md:3");
});

it("denies a secret in the pull request's own words", async () => {
  const verdict = await review({ "index.md": "# Home\n" }, { title: "Edit", summary: `Used\n${token}` });
  expect(verdict).toMatchObject({ kind: "denied", violations: [{ path: "the summary" }] });
});

it("lets what was there before be: a secret and an invisible character in a page that moves or is edited", async () => {
  const old = `# Guide\n\nUse ${oldToken} here.\n\nHidden\u200bspace.\n`;
  const index = "# Home\n\nSee [the guide](guides/guide.md) and [us](https://known.test/a).\n";
  expect(await review({ "guide.md": null, "guides/guide.md": old, "index.md": index })).toMatchObject({
    kind: "passed",
  });
  expect(
    await review({
      "guide.md": old.replaceAll(" here.", " there, and Hidden\u200bspace.").replace("\n\nHidden\u200bspace.", ""),
    }),
  ).toMatchObject({
    kind: "passed",
  });
});

it("asks about invisible and bidirectional characters that the change brings in, with their line", async () => {
  for (const character of ["\u202e", "\u2066", "\u{e0041}", "\x1b"]) {
    const verdict = await review({ "index.md": `# Home\n\nSee [the guide](guide.md).\n\nif (x${character})\n` });
    expect(verdict).toMatchObject({ constructs: [{ kind: "invisible characters", line: 5 }] });
  }
  for (const summary of ["a\u202eb", "text in selectors\u{e0101}\u{e0154}", "a\ufe01b"]) {
    const words = await review({ "guide.md": "# Guide\n" }, { title: "Edit", summary });
    expect(checksOf(words)).toContain("invisible-character the summary:1");
  }
});

it("tells an added invisible character from the one that was there", async () => {
  const verdict = await review({
    "guide.md": `# Guide\n\nUse ${oldToken} here.\n\nHidden\u200bspace.\n\nOne\u200bmore.\n`,
  });
  expect(verdict).toMatchObject({ constructs: [{ kind: "invisible characters", line: 7, text: "One\u200bmore." }] });
});

it("leaves joiners and ordinary white space alone", async () => {
  const verdict = await review({ "new.md": "# New\r\n\r\n\tमनु\u200dष्य 👩\u200d💻 می\u200cخواهم\r\n" });
  expect(checksOf(verdict)).not.toContain("invisible-character new.md:1");
  expect(checksOf(verdict).filter((check) => check.startsWith("invisible"))).toEqual([]);
});

it("asks about a site that nothing named before, and says where", async () => {
  const link = "# Guide\n\n[b](https://known.test/z) [c](http://elsewhere.test)\n\n[a](https://new.test/x)\n";
  expect(await review({ "guide.md": link })).toMatchObject({
    constructs: [{ path: "guide.md", line: 5, kind: "domain", key: "domain new.test", text: "https://new.test/x" }],
  });
  expect(await review({ "guide.md": link }, {}, { allowedConstructs: ["domain new.test"] })).toMatchObject({
    constructs: [],
  });
  const words = await review({ "index.md": "# Home\n" }, { title: "Edit", summary: "See `https://new.test/x`." });
  expect(words).toMatchObject({ constructs: [{ path: "the summary", key: "domain new.test" }] });
});

it("knows a site from the end of a long line", async () => {
  expect((await review({ "new.md": "# New\n\n[a](https://far.test/x)\n" })).kind).not.toBe("denied");
});

it("puts an address together that goes over several lines", async () => {
  const verdict = await review({ "new.md": '# New\n\n<img src="ht\ntps:/\n/new.te\nst/x">\n' });
  expect(verdict).toMatchObject({ constructs: expect.arrayContaining([expect.objectContaining({ path: "new.md" })]) });
});

it("reports a new domain in a code sample as a draft, except a requested one", async () => {
  const code = {
    "guide.md": "# Guide\n\n```sh\ncurl https://new.test/x\n```\n\nSet `postgres://user@db.new.test/docs`.\n",
  };
  expect(await review(code)).toMatchObject({
    kind: "flagged",
    introduced: [
      {
        check: "new-domain",
        severity: "error",
        path: "guide.md",
        line: 4,
        message: expect.stringContaining("first code sample that names new.test"),
      },
    ],
  });
  expect(await review(code, { asked: ["Show how to call https://new.test"] })).toMatchObject({ kind: "passed" });
  const linked = { "guide.md": `${code["guide.md"]}\n[x](https://new.test)\n` };
  expect(await review(linked)).toMatchObject({ constructs: [{ path: "guide.md", key: "domain new.test" }] });
});

it("denies an address that a page's code puts together, but not one that was there in the same words", async () => {
  const image = 'export const name = "https:/" + "/new.test/x"\n\n<img src={name} />\n';
  expect(await review({ "new.mdx": image })).toMatchObject({
    kind: "denied",
    violations: [{ path: "new.mdx", rule: expect.stringContaining("export const name") }],
  });
  expect(await review({ "built.mdx": `${built}\nMore words.\n` })).toMatchObject({ kind: "passed" });
  expect(await review({ "built.mdx": `${built}\n${image}` })).toMatchObject({ kind: "denied" });
});

it("denies an include of a file that is outside the docs folder", async () => {
  const page = { "docs/new.md": "# New\n\n<<< ../script.js\n" };
  const outside = await review(page, {}, { docsDir: "docs" });
  expect(outside).toMatchObject({ kind: "denied", violations: [{ path: "docs/new.md" }] });
  expect((await review(page)).kind).not.toBe("denied");
});

it("looks at every site, however many come before it", async () => {
  const many = Array.from({ length: 501 }, (_, index) => `https://s${index}.test`).join("\n");
  expect(await review({ "new.md": many }, {}, { externalHosts: ["*"] })).toMatchObject({
    kind: "denied",
    violations: [{ rule: "the change links to more than 500 new domains" }],
  });
});

it("accepts requested and allowed domains, and reports others", async () => {
  const link = { "guide.md": "# Guide\n\n[a](https://docs.new.test/x)\n" };
  const image = { "guide.md": "# Guide\n\n![a](https://docs.new.test/x.png)\n" };
  expect(checksOf(await review(link, { asked: ["Link to HTTPS://docs.new.test/x, please"] }))).toEqual([]);
  expect(checksOf(await review(image, {}, { externalHosts: ["*.new.test"] }))).toEqual([]);
  expect(await review(image, {}, { externalHosts: ["*.other.test"] })).toMatchObject({
    constructs: [{ key: "domain docs.new.test" }],
  });
  expect(await review(image, {}, { externalHosts: ["*"] })).toMatchObject({ kind: "passed", constructs: [] });
});

it.each(["comment.test", "spare.test", "sample.test", "script.test"])(
  "does not know %s, which no rendered page of the base leads to",
  async (host) => {
    const verdict = await review({ "new.md": `# New\n\n![a](https://${host}/x)\n` });
    expect(verdict).toMatchObject({
      constructs: expect.arrayContaining([expect.objectContaining({ key: `domain ${host}` })]),
    });
    // A page that contains it can be edited and moved.
    const page = (await base.read("hidden.mdx"))?.toString() ?? "";
    expect((await review({ "hidden.mdx": `${page}\nMore.\n` })).kind).not.toBe("denied");
    expect((await review({ "hidden.mdx": null, "moved.mdx": page })).kind).not.toBe("denied");
  },
);

const secretLine = "internal: the launch of Project Nightingale is on March 3";
it.each([
  ["as it is", (text: string) => encodeURIComponent(text)],
  ["with dashes", (text: string) => text.replaceAll(/\W+/g, "-")],
  ["in base64", (text: string) => Buffer.from(text).toString("base64url")],
  ["in hex", (text: string) => Buffer.from(text).toString("hex")],
  ["backwards", (text: string) => encodeURIComponent([...text].reverse().join(""))],
])("denies an address at a known site that carries text of a context repository %s", async (_, encode) => {
  const contextText = [`1: ${secretLine}`, "2: see https://known.test/docs/launch-of-project-nightingale"];
  for (const url of [`https://known.test/?q=${encode(secretLine)}`, `https://known.test/${encode(secretLine)}.png`]) {
    const verdict = await review({ "new.md": `# New\n\n![a](${url})\n` }, { contextText });
    expect(verdict).toMatchObject({
      kind: "denied",
      violations: [{ rule: expect.stringContaining("context repository") }],
    });
    expect((await review({ "new.md": `# New\n\n![a](${url})\n` })).kind).not.toBe("denied");
  }
  // An address from the repository itself carries no data out.
  const quoted = "# New\n\n[a](https://known.test/docs/launch-of-project-nightingale)\n";
  expect((await review({ "new.md": quoted }, { contextText })).kind).not.toBe("denied");
});

it("opens a draft for a deleted page that the request does not name, but not for a moved page", async () => {
  const gone = { "words.md": null };
  const deleted = expect.objectContaining({ check: "deleted-page", severity: "error", path: "words.md" });
  expect(await review(gone, { asked: ["Shorten the guide"] })).toMatchObject({
    kind: "flagged",
    introduced: expect.arrayContaining([deleted]),
  });
  for (const asked of ["Delete words.md", "Remove the page “Words”", "drop /words"]) {
    expect(checksOf(await review(gone, { asked: [asked] })).join()).not.toContain("deleted-page");
  }
  const moved = { "words.md": null, "more/words.md": "# Words\n\nStart with other.md.\n\nMore.\n" };
  expect(checksOf(await review(moved)).join()).not.toContain("deleted-page");
});
