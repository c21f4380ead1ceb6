import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { type CommitTree, createOverlay } from "@emend/tree";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPageReader } from "./page-reader.ts";
import type { Policy } from "./review.ts";
import { reviewChange } from "./review-change.ts";

const pageReader = createPageReader();
const sidebars = 'module.exports = {\n  docs: ["index"],\n};\n';
const widget = 'export const at = (x) => fetch("https:/" + "/" + x);\n';
let trees: TestTrees;
let base: CommitTree;

beforeAll(async () => {
  trees = await openTestTrees();
  base = await trees.open({
    "index.md": "# Home\n\n[us](https://known.test/a).\n",
    "mkdocs.yml": "site_name: x\n",
    "sidebars.js": sidebars,
    "old/widget.js": widget,
    "guide.md": "# Guide\n\n<script>\nlocation.href = at('x')\n</script>\n\nWords.\n",
  });
});
afterAll(() => trees.close());

let searches = 0;

async function review(files: Record<string, string | null>, more: Partial<Policy> = {}) {
  const counting: CommitTree = {
    ...base,
    search: (...input) => {
      searches++;
      return base.search(...input);
    },
  };
  const overlay = await createOverlay(base);
  for (const [path, text] of Object.entries(files)) {
    if (text === null) await overlay.delete(path);
    else await overlay.set(path, Buffer.from(text));
  }
  const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000, ...more };
  return reviewChange({ base: counting, overlay, policy, pageReader }, new AbortController().signal);
}

const long = "p".repeat(2_100);
const blanks = " ".repeat(25);
const hidden: ReadonlyArray<readonly [path: string, text: string]> = [
  ...[
    // Names that continue after a character that usually ends a sentence.
    "![x](https://known.test~.evil.dev/)",
    "![x](https://known.test,a.evil.dev/)",
    "![x](<https://known.test(.evil.dev/>)",
    '<img src="https://known.test).evil.dev/a">',
    "See https://known.test).evil.dev/a",
    // Named character references: browsers drop some and read others as plain letters.
    "![x](https://ev&shy;il.dev/)",
    '<img src="https://ev&shy;il.dev/a.png">',
    '<img src="https://ev&shyil.dev/a.png">',
    "![x](https://&eopf;&vopf;&iopf;&lopf;.dev/)",
    "![x](https://&fjlig;ord.dev/)",
    "![x](https://known.test&shy;.evil.dev/)",
    // Longer than any real name.
    `[x](<https://known.test(${long}@evil.dev/>)`,
    `<img src="https://known.test(${long}@evil.dev/">`,
    `<img src=${blanks}"https:/\t/evil.dev/a.png">`,
    `<img src="https:/\t/evil.dev/a.png?${long}">`,
    `[x](${blanks}<https:/\t/evil.dev/a.png>)`,
    // Code in Markdown.
    `<img src="x.png" alt="x" onerror="this.src='https:'+'//'+'evil'+'.dev'">`,
    '<script>\nlet u = new URL("/x.png", location); u.host = Reflect.get({ a: "evil" }, "a"); fetch(u)\n</script>',
    `<img :[x]="'https:/' + '/evil.dev'">`,
    `<img v-bind="{ ['sr' + 'c']: name }">`,
  ].map((text) => ["new.md", `# New\n\n${text}\n`] as const),
  ["new.md", '---\ntitle: New\nimage: "https://ev\\x69l.dev/x.png"\n---\n\n# New\n'],
  ["new.md", '---\ntitle: New\nimage: "https:\\x2f\\x2fev\\\n  il.dev/x.png"\n---\n\n# New\n'],
  ["docs.json", '{"name":"x","logo":"https:\\u002f\\u002fevil.dev"}\n'],
  ["docs.json", '{"name":"x","logo":"https://ev\\u0069l.dev"}\n'],
  ["docs.json", '{"name":"x","logo":"https:\\n//evil.dev"}\n'],
  ["mkdocs.yml", 'site_name: x\nextra_css:\n  - "https://ev\\u0069l.dev/x.css"\n'],
  ["new.adoc", "= N\n:h: evil\n:t: dev\n\nimage::https://{h}.{t}/x.png[]\n"],
  ["pic.svg", '<!DOCTYPE svg [<!ENTITY e "evil.dev">]><svg><image href="https://&e;/x.png"/></svg>\n'],
  ["sidebars.js", `${sidebars}fetch("https:/" + "/evil.dev");\n`],
  ...['export const u = new URL("https://known.test/x.png")\n\n<img src={(u.hostname = "evil.d", u)} />'].map(
    (text) => ["new.mdx", `# New\n\n${text}\n`] as const,
  ),
];

it.each(hidden)("publishes nothing of %s without a person: %s", async (path, text) => {
  const verdict = await review({ [path]: text });
  expect(verdict.kind === "denied" || verdict.constructs.length > 0).toBe(true);
});

it.each([
  ["new.md", "# New\n\nSee (https://known.test), **https://known.test**, https://known.test; `https://known.test`.\n"],
  ["new.md", "# New\n\n[https://known.test](https://known.test/x) and https://*.known.test\n"],
  ["new.md", "# New\n\nOrigins: https://known.test,https://known.test &mdash; R&D, AT&T.\n"],
  ["sidebars.js", sidebars.replace('"index"', '"index", "guide", { type: "link", href: "https://known.test/a" }')],
  ["guide.md", "# Guide\n\n<script>\nlocation.href = at('x')\n</script>\n\nOther words.\n"],
])("lets %s be: %s", async (path, text) => {
  const verdict = await review({ [path]: text });
  expect(verdict.kind === "denied" ? verdict.violations : verdict.constructs).toEqual([]);
});

it("refuses code files, and lets those of allowed paths be", async () => {
  const code = { "custom.js": widget };
  expect((await review(code)).kind).toBe("denied");
  expect((await review(code, { allowedPaths: ["*.js"] })).kind).toBe("passed");
  const page = { "new.md": "# New\n\n<script>location.href = '/x'</script>\n" };
  expect((await review(page)).kind).toBe("denied");
  expect((await review(page, { allowedPaths: ["new.md"] })).kind).not.toBe("denied");
});

it("lets a page move with its code, and no other page take it up", async () => {
  const guide = "# Guide\n\n<script>\nlocation.href = at('x')\n</script>\n\nWords.\n";
  expect((await review({ "guide.md": null, "guides/guide.md": guide })).kind).not.toBe("denied");
  expect((await review({ "copy.md": guide })).kind).toBe("denied");
  expect((await review({ "copy.md": guide.replace("at(", "evil(") })).kind).toBe("denied");
});

it("counts sites before it looks for any of them, and leaves the process its turns", async () => {
  const many = Array.from({ length: 2_000 }, (_, index) => `- https://h${index}.evil.dev/`).join("\n");
  searches = 0;
  expect(await review({ "new.md": `# New\n\n${many}\n` })).toMatchObject({
    kind: "denied",
    violations: [{ rule: "the change links to more than 500 new domains" }],
  });
  // None of them was searched for in the repository.
  expect(searches).toBe(0);
});

it.each(["<script ", "<script>", "https:", ' :["', "<!DOCTYPE ", "$" + "{", "//a~"])(
  "is done soon with %s without end",
  async (part) => {
    const text = `<script setup ${part.repeat(20_000)}`;
    for (const path of ["new.md", "new.svg", "new.adoc", "new.rst"])
      expect((await review({ [path]: text })).kind).toBeDefined();
  },
);
