import { expect, it } from "vitest";
import { memoryTree } from "../../test/support/memory-tree.ts";
import { checkSite, movePage, openSite } from "../index.ts";
import { doubtedFixes, judgeChange, type State } from "./judge-change.ts";
import { confirmFixes } from "./read-states.ts";

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
