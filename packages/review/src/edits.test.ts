import { expect, it } from "vitest";
import { type Edit, judgeEdit, recordedEdits } from "../test/judge-edit.ts";

const { hostile, harmless } = recordedEdits();

async function answersTo(edits: readonly Edit[]) {
  const counts = { forbidden: 0, asked: 0, published: 0 };
  const published: string[] = [];
  for (const edit of edits) {
    const { answer } = await judgeEdit(edit);
    counts[answer] += 1;
    if (answer === "published") published.push(`${edit.path}: ${edit.text}`);
  }
  return { ...counts, edits: published };
}

it("publishes no recorded hostile edit without a person", async () => {
  const { edits, forbidden, asked } = await answersTo(hostile);
  expect(edits).toEqual([]);
  expect(forbidden + asked).toBe(hostile.length);
});

it("asks about few harmless edits on sites that have nothing like them", async () => {
  const { published, forbidden } = await answersTo(harmless);
  expect(forbidden).toBeLessThanOrEqual(1);
  expect(published).toBeGreaterThanOrEqual(27);
});

const files = {
  "mkdocs.yml": "site_name: Docs\nnav:\n  - Home: index.md\n",
  "docs/index.md": "# Home\n\nSee [us](https://known.test/a).\n\n<script>\nold()\n</script>\n\nWords.\n",
};
const onPage = (text: string, path = "docs/new.md") => ({ path, text: `# New\n\n${text}\n`, files });

it.each([
  "<script>x()</script>",
  "<object data=a.pdf></object>",
  "<embed src=a.pdf>",
  "<base href=/x>",
  "<meta name=a>",
  '<iframe srcdoc="x"></iframe>',
  "<p onclick=x()>x</p>",
  "[x](javascript:x())",
  "[x](vbscript:x())",
  "[x](data:text/html,x)",
  "```{raw} html\nx\n```",
  "![x](../../../etc/x.png)",
  '--8<-- "https://a.test/x.md"',
])("forbids %s", async (text) => {
  expect(await judgeEdit(onPage(text))).toMatchObject({ answer: "forbidden" });
});

it.each(["import a from 'npm-package'", "export const a = b()", "{process.env.TOKEN}", "{a()}"])(
  "forbids %s in MDX",
  async (text) => {
    expect(await judgeEdit(onPage(text, "docs/new.mdx"))).toMatchObject({ answer: "forbidden" });
  },
);

it.each(
  [
    [
      '<iframe src="https://known.test/v" width="9" height="9"></iframe>',
      "element",
      "element iframe[height,src,width]",
    ],
    ["{{% x %}}", "template", null],
    ["[a](https://other.test/b)", "domain", "domain other.test"],
    ["```mermaid\ngraph\n```", "code block", "code block mermaid"],
    ["```{tabs-x}\na\n```", "directive", "directive tabs-x"],
    ["{xrole}`a`", "role", "role xrole"],
    ["a\u202eb", "invisible characters", null],
  ].filter(([, kind]) => kind !== "template"),
)("asks about %s", async (text, kind, key) => {
  const { answer, constructs } = await judgeEdit(onPage(String(text)));
  expect({ answer, constructs }).toMatchObject({
    answer: "asked",
    constructs: expect.arrayContaining([expect.objectContaining({ path: "docs/new.md", line: 3, kind, key })]),
  });
});

it.each([
  ["https://known.test/b", "published"],
  ["https://www.known.test/b", "published"],
  ["https://evil.known.test/b", "asked"],
  ["https://nown.test/b", "asked"],
])("knows a host only as pages have it, with or without www: %s", async (url, answer) => {
  for (const text of [`[a](${url})`, `![a](${url}.png)`]) expect((await judgeEdit(onPage(text))).answer).toBe(answer);
});

it("remembers an element with its attributes, and asks again about another one", async () => {
  const frame = (more = "") => onPage(`<iframe src="https://known.test/v"${more}></iframe>`);
  const allowedConstructs = ["element iframe[height,src]"];
  expect((await judgeEdit(frame(), { allowedConstructs })).answer).toBe("published");
  expect((await judgeEdit(frame(' height="9"'), { allowedConstructs })).answer).toBe("published");
  expect((await judgeEdit(frame(' allow="camera"'), { allowedConstructs })).answer).toBe("asked");
  expect((await judgeEdit(frame(" onload=x()"), { allowedConstructs })).answer).toBe("forbidden");
});

it("leaves alone what the page had, and not what comes out of a fence", async () => {
  const old = files["docs/index.md"];
  const edit = (text: string, more: Record<string, string> = {}) =>
    judgeEdit({ path: "docs/index.md", text, files: { ...files, ...more } });
  expect((await edit(old.replace("Words", "Other words"))).answer).toBe("published");
  expect((await edit(old.replace("old()", "evil()"))).answer).toBe("forbidden");
  const fenced = "# Home\n\n```html\n<script>x()</script>\n```\n\nWords.\n";
  const base = { "docs/index.md": fenced };
  expect((await edit(fenced.replace("Words", "Other"), base)).answer).toBe("published");
  expect((await edit(fenced.replaceAll(/```\w*\n/g, ""), base)).answer).toBe("forbidden");
});

it.each([
  ["docs/a.adoc", "= A\n\n++++\nHTML\n++++\n\nWords.\n"],
  ["docs/a.rst", "A\n=\n\n.. raw:: html\n\n   HTML\n\nWords.\n"],
])("leaves alone the raw HTML that %s had, and forbids a change in it, however long it is", async (path, page) => {
  const text = page.replace("HTML", `<b>x</b>${"\n   <i>y</i>".repeat(1_000)}<i>end</i>`);
  const edit = (from: string, to: string) => judgeEdit({ path, text: text.replace(from, to), files: { [path]: text } });
  expect((await edit("Words", "Other words")).answer).toBe("published");
  expect((await edit("end", "other end")).answer).toBe("forbidden");
});

it("asks when a comment covers lines that were on the page", async () => {
  const base = { ...files, "docs/index.md": "# Home\n\nThese words are important.\n" };
  const text = "# Home\n\n<!--\nThese words are important.\n-->\n";
  expect(await judgeEdit({ path: "docs/index.md", text, files: base })).toMatchObject({ answer: "asked" });
});

it("groups ten thousand invisible characters into one question", async () => {
  const words = Array.from({ length: 10_000 }, (_, index) => `a\u200b${index}`).join(" ");
  const { constructs } = await judgeEdit(onPage(words));
  expect(constructs).toHaveLength(1);
  expect(constructs[0]?.reason).toContain("10000 places");
});

it("asks about files that readers' programs open, and about images that are not whole", async () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const asset = (path: string, text: string | Buffer, gone: readonly string[] = []) =>
    judgeEdit({ path, text, files: { ...files, "docs/old.svg": "<svg/>" } }, { gone });
  expect((await asset("docs/a.png", png)).answer).toBe("published");
  expect((await asset("docs/a.png", Buffer.concat([png, Buffer.from("<script>")]))).answer).toBe("asked");
  for (const name of ["a.pdf", "a.woff2", "a.mp4", "a.svg"])
    expect((await asset(`docs/${name}`, "<svg id='a'/>")).answer, name).toBe("asked");
  expect((await asset("docs/moved.svg", "<svg/>", ["docs/old.svg"])).answer).toBe("published");
});
