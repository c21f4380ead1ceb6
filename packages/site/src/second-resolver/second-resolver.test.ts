import { expect, it } from "vitest";
import { memoryTree } from "../../test/support/memory-tree.ts";
import { checkSite, movePage, openSite } from "../index.ts";
import { doubtedFixes, judgeChange, learnResolver, type State } from "./judge-change.ts";
import { confirmFixes } from "./read-states.ts";
import { writtenLinks } from "./written-links.ts";

function state(texts: Record<string, string>): State {
  return { files: new Set(Object.keys(texts)), texts: new Map(Object.entries(texts)) };
}

const docs = {
  "docs/index.mdx": "[a](/docs/guides/a) [b](/docs/guides/b)\n",
  "docs/guides/a.mdx": "[b](/docs/guides/b)\n",
  "docs/guides/b.mdx": "# B\n",
};
const moved = {
  "docs/guides/a.mdx": docs["docs/guides/a.mdx"],
  "docs/keys/b.mdx": docs["docs/guides/b.mdx"],
};
const moves = new Map([["docs/guides/b.mdx", "docs/keys/b.mdx"]]);
const unsure = (): null => null;

it("reads a link only as the site's other links are meant", () => {
  const right = { ...moved, "docs/index.mdx": "[a](/docs/guides/a) [b](/docs/keys/b)\n" };
  const wrong = { ...moved, "docs/index.mdx": "[a](/docs/guides/a) [b](/docs/docs/keys/b)\n" };
  const follows = { "docs/guides/a.mdx": "[b](/docs/keys/b)\n" };
  expect(judgeChange(state(docs), state({ ...right, ...follows }), moves, "", unsure).dead).toEqual([]);
  expect(judgeChange(state(docs), state({ ...wrong, ...follows }), moves, "", unsure).dead).toMatchObject([
    { path: "docs/index.mdx", line: 1, target: "/docs/docs/keys/b", was: "docs/guides/b.mdx" },
  ]);
});

it("counts a link that a new redirect catches as followed", () => {
  const left = { ...moved, "docs/index.mdx": docs["docs/index.mdx"] };
  expect(judgeChange(state(docs), state(left), moves, "", unsure).dead).toHaveLength(2);
  const redirect = '{ "source": "/docs/guides/b", "destination": "/docs/keys/b" }';
  expect(judgeChange(state(docs), state(left), moves, redirect, unsure).dead).toEqual([]);
});

it("lists the links that it cannot read and that name what moved", () => {
  const before = { ...docs, "docs/c.mdx": "[b](/elsewhere/b)\n" };
  const after = { ...before, ...moved, "docs/guides/b.mdx": "" };
  const { "docs/guides/b.mdx": _, ...files } = after;
  const { mayMean } = judgeChange(state(before), state(files), moves, "/docs/guides/b", unsure);
  expect(mayMean).toMatchObject([{ path: "docs/c.mdx", line: 1, target: "/elsewhere/b" }]);
});

it("doubts a fix whose old target it finds, and one whose new target it does not", () => {
  const site = state({
    "a.md": "[x](b.md#--flag) [y](c.md) [z](d.md)\n",
    "b.md": "# B\n\n### `--flag`\n",
    "c.md": "# C\n",
  });
  const fixes = [
    "[x](b.md#flag) [y](c.md) [z](d.md)\n",
    "[x](b.md#--flag) [y](b.md) [z](d.md)\n",
    "[x](b.md#--flag) [y](c.md) [z](e.md)\n",
    "[x](b.md#--flag) [y](c.md) [z](b.md)\n",
  ].map((text) => ({ path: "a.md", text }));
  expect([...doubtedFixes(site, fixes)]).toEqual([0, 1, 2]);
});

it("stops a move that leaves a dead link behind which the index does not see", async () => {
  const tree = memoryTree({
    "README.md":
      '# Home\n\n[a](docs/a.md) [b](docs/b.md) [k](docs/keys.md) [x](/docs/a)\n\n<Card link="/docs/keys" />\n',
    "docs/a.md": "# A\n\n[b](b.md)\n",
    "docs/b.md": "# B\n\n[a](a.md)\n",
    "docs/keys.md": "# Keys\n",
  });
  expect(await movePage(await openSite(tree), { from: "docs/keys", to: "docs/security/keys" })).toEqual({
    kind: "refused",
    reason: expect.stringMatching(
      /a link that works now would lead nowhere: README\.md:5 \(\/docs\/keys\); nothing was/,
    ),
  });
});

it("keeps the fixes that it confirms", async () => {
  const site = await openSite(
    memoryTree({ "a.md": "[b](instal.md) [c](b.md)\n", "install.md": "# I\n", "b.md": "# B\n" }),
  );
  const pages = site.index.nodes.keys();
  const [finding] = await confirmFixes({ tree: site.tree, pages }, await checkSite(site));
  expect(finding?.fix?.edits).toMatchObject([{ text: "install.md" }]);
});

it("makes an error likely if it finds the target in a form that other links have", async () => {
  // Fumadocs writes such addresses; an unknown framework has no rule that knows groups in parentheses.
  const pages = {
    "docs/index.md": "[a](one/a) [b](one/b)\n",
    "docs/(x)/one/a.md": "# A\n\n",
    "docs/(x)/one/b.md": "# B\n",
    "docs/(x)/one/c.md": "# C\n\n[a](./a.md) [b](./b.md) [c](./a.md#nowhere)\n",
  };
  const findings = await checkSite(await openSite(memoryTree(pages)));
  const doubted = findings.filter(({ why }) => why?.startsWith("a second reading of the site finds the target"));
  expect(doubted.map(({ path, severity }) => `${path} ${severity}`)).toEqual([
    "docs/index.md warning",
    "docs/index.md warning",
  ]);
  expect(findings.filter(({ severity }) => severity === "error").map(({ message }) => message)).toEqual([
    expect.stringContaining("nowhere"),
  ]);
});

it("does not take a path above the top for the front page", () => {
  const site = {
    "docs/index.md": "[a](/guide/a) [b](/guide/b)\n",
    "docs/guide/a.md": "[b](/guide/b) [x](../../../x)\n",
    "docs/guide/b.md": "[a](/guide/a)\n",
  };
  const follow = learnResolver(state(site));
  expect(follow("docs/guide/a.md", { target: "/guide/b", isReference: false })).toBe("docs/guide/b.md");
  expect(follow("docs/guide/a.md", { target: "../../../x", isReference: false })).toBeNull();
});

it("reads the links after code in a list and after a block of Sphinx", () => {
  const text =
    "- ```sh\n  a [x](no.md)\n  ```\n\n[one](one.md)\n\n```{note}\n[two](two.md)\n```\n\n[three](three.md)\n";
  expect(writtenLinks(text).map(({ target }) => target)).toEqual(["one.md", "two.md", "three.md"]);
});

it("lists a link that would lead to another version of what moved", () => {
  const before = {
    "v2/index.md": "[a](/guide/a) [b](/guide/b)\n",
    "v2/guide/a.md": "# A\n",
    "v2/guide/b.md": "[a](/guide/a) [b](/guide/b)\n",
    "v2/guide/c.md": "[b](/guide/b) [a](/guide/a)\n",
    "v1/guide/a.md": "# A\n",
    "v1/guide/c.md": "[c](/one/c) [c](/one/c)\n",
    "v1/one/c.md": "# C\n",
  };
  const { "v2/guide/a.md": page, ...rest } = before;
  const after = { ...rest, "v2/guide/moved.md": page };
  const move = new Map([["v2/guide/a.md", "v2/guide/moved.md"]]);
  const { dead, mayMean } = judgeChange(state(before), state(after), move, "", unsure);
  expect([...dead, ...mayMean].map(({ path, target }) => `${path} ${target}`)).toEqual([
    "v2/index.md /guide/a",
    "v2/guide/b.md /guide/a",
    "v2/guide/c.md /guide/a",
  ]);
});

it("lists links to what moved by its address, and from files that are no pages of the site", async () => {
  const tree = memoryTree({
    "docusaurus.config.js": "module.exports = { presets: [['classic', {}]] };\n",
    "docs/01-Intro.md": "# Intro\n",
    "docs/02-use.md": "[i](/docs/Intro) [u](/docs/use)\n",
    "docs/03-more.md": "[i](/docs/Intro) [u](/docs/use) [x](/elsewhere/Intro)\n",
    "src/pages/index.jsx": '<Link to="/docs/Intro">Intro</Link>\n',
    "notes/plan.md": "[i](/docs/Intro) [u](/docs/use)\n",
  });
  const done = await movePage(await openSite(tree), {
    from: "docs/01-Intro.md",
    to: "docs/start.md",
  });
  expect(done.kind === "refused" ? done.reason : done.skipped.map(({ path }) => path).sort()).toEqual([
    "docs/03-more.md",
    "docs/start.md",
    "notes/plan.md",
    "src/pages/index.jsx",
  ]);
});
