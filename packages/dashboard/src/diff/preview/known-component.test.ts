import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { blocks } from "../../../../site/oracles/cases.ts";
import { Markdown } from "./markdown.tsx";
import { parsePage } from "./parse-page.ts";

/** The page's text, with a mark for each callout, tab, card, step and folded part. */
function drawn(path: string, text: string): string {
  return renderToStaticMarkup(createElement(Markdown, { tree: parsePage(path, text).tree }))
    .replaceAll(/<aside[^>]*>/g, "[callout ")
    .replaceAll(/<button[^>]*aria-pressed="true"[^>]*>/g, "[tab ")
    .replaceAll(/<button[^>]*>/g, "[other tab ")
    .replaceAll(/<details[^>]*>/g, "[details ")
    .replaceAll(/<div class="relative[^>]*>/g, "[step ")
    .replaceAll(/<div class="[^"]*content-start[^>]*>/g, "[card ")
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

const pageOf = (name: string) => blocks.find((block) => block.name === name)?.source ?? "";

it.each([
  ["mkdocs", "a.md", "admonition", "[callout Title Inside Text. [tab Tab one In tab"],
  ["vitepress", "a.md", "containers", "[callout Title Inside [details More Deeper"],
  ["docusaurus and starlight", "a.mdx", "admonitions", "[callout Note Inside [callout Title Deeper"],
  [
    "mintlify",
    "a.mdx",
    "jsx",
    "[details How it works Text. [tab npm install Text. [step First step Text. Update label=&quot;2024-05-01&quot; Text. [details Props Text. [card A card Text. /start",
  ],
])("draws what a page of %s shows (%s, %s)", (_, path, name, shown) => {
  expect(drawn(path, pageOf(name))).toBe(shown);
});

it.each([
  [
    "tabs beside each other",
    "a.md",
    '=== "npm"\n\n    ```sh\n    a\n    ```\n\n=== "pnpm"\n\n    b\n\nAfter.\n',
    "[tab npm [other tab pnpm sh a After.",
  ],
  [
    "a callout in a callout",
    "a.md",
    '!!! tip "Outer"\n    One.\n\n    !!! danger\n        Two.\n\n    Three.\n\nAfter.\n',
    "[callout Outer One. [callout Danger Two. Three. After.",
  ],
  [
    "a list that a container ends behind",
    "a.md",
    ":::warning Take care\n- one\n- two\n:::\n\nAfter.\n",
    "[callout Take care one two After.",
  ],
  ["an alert", "a.md", "> [!CAUTION]\n> Hot.\n", "[callout Caution Hot."],
  [
    "a code group",
    "a.md",
    "::: code-group\n```sh [npm]\na\n```\n```sh [pnpm]\nb\n```\n:::\n",
    "[tab npm [other tab pnpm sh a",
  ],
  [
    "a code group of components",
    "a.mdx",
    '<CodeGroup>\n```sh npm\na\n```\n```sh title="pnpm"\nb\n```\n</CodeGroup>\n',
    "[tab npm [other tab pnpm sh a",
  ],
  [
    "names in a property",
    "a.mdx",
    "<Tabs items={['npm', \"pnpm\"]}>\n<Tabs.Tab>\na\n</Tabs.Tab>\n<Tabs.Tab>\nb\n</Tabs.Tab>\n</Tabs>\n",
    "[tab npm [other tab pnpm a",
  ],
  ["a component in one line", "a.mdx", "<Note>Mind **it**.</Note>\n", "[callout Note Mind it ."],
  [
    "tabs in one line each",
    "a.mdx",
    '<Tabs>\n<Tab title="npm">a</Tab>\n<Tab title="pnpm">b</Tab>\n</Tabs>\n',
    "[tab npm [other tab pnpm a",
  ],
  ["a kind as a property", "a.mdx", '<Aside type="danger" title="Stop">\nText.\n</Aside>\n', "[callout Stop Text."],
  [
    "marks in a block of code",
    "a.md",
    '```md\n:::note\n!!! tip "x"\n    y\n```\n',
    "md :::note !!! tip &quot;x&quot; y",
  ],
  [
    "marks that hold nothing",
    "a.md",
    '!!! note "x"\nText.\n\n12:30 and a:b\n',
    "!!! note &quot;x&quot; Text. 12:30 and a:b",
  ],
])("draws %s", (_, path, text, shown) => {
  expect(drawn(path, text)).toBe(shown);
});

it("keeps every line of a page where it is", () => {
  const page = '!!! note "A"\n\n    One.\n\n=== "B"\n\n    Two.\n\n## Last\n';
  expect(parsePage("a.md", page).tree.children.at(-1)).toMatchObject({
    type: "heading",
    position: { start: { line: 9 } },
  });
});
