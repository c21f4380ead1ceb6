import type { Shape } from "./shape.ts";

/** What a job may publish as ready: a browser must find nothing on it either. */
const words = [
  '# A guide\n\nSome *words* and `code`, with a [link](https://known.example/ "A title").\n\n- one\n- two\n  1. three\n\n> A quote.\n',
  "# Tables\n\n| Name | Value |\n| --- | :---: |\n| `a` | 1 |\n| `b` | <br /> |\n\nText.[^1]\n\n[^1]: A note.\n",
  '# Samples\n\n```js\nfetch(\'/api\').then((answer) => answer.json());\n```\n\n```html\n<script>alert(1)</script>\n<a href="javascript:void 0" onclick="x()">x</a>\n```\n\nUse `<script>` or `onclick="x"`.\n',
  `# Long\n\n${"A paragraph of words that goes on for a while, and says nothing new.\n\n".repeat(60)}`,
  "# Numbers\n\n## 1. First\n\n## 2. Second\n\nIt costs 5, not 3 \"or so\" — it's a 'quote' & more.\n",
  "# Details\n\n<details>\n<summary>More</summary>\n\nWords.\n\n</details>\n",
];
const titled = '---\ntitle: A page of words\ndescription: "What it says, and why"\n---\n\nSome words.\n';
const starlight = "---\ntitle: x\n---\n\n";

const of = (builders: readonly string[], texts: readonly string[], path?: string): Shape[] =>
  builders.flatMap((builder) => texts.map((text) => ({ builder, text, ...(path !== undefined && { path }) })));

export const honestShapes: readonly Shape[] = [
  ...of(["mkdocs", "jekyll", "hugo", "sphinx", "vitepress", "docusaurus"], words),
  ...of(
    ["starlight"],
    words.map((text) => starlight + text),
  ),
  ...of(["nextra"], words.slice(0, 4)),
  ...of(["mkdocs", "hugo", "sphinx", "vitepress", "starlight", "docusaurus"], [titled]),
  // A page that is there.
  ...of(["mkdocs"], [`\n## More\n\n${words[1]}`], "docs/index.md"),
  ...of(["vitepress"], [`\n## More\n\n${words[1]}`], "index.md"),
  ...of(["docusaurus"], [`\n## More\n\n${words[1]}`], "docs/start.md"),
  ...of(["starlight"], [`\n## More\n\n${words[1]}`], "src/content/docs/index.md"),
  ...of(["nextra"], [`\n## More\n\n${words[1]}`], "content/index.mdx"),
  ...of(["hugo"], [`\n## More\n\n${words[1]}`], "content/docs/index.md"),
  // What each framework has of its own.
  ...of(
    ["mkdocs"],
    [
      '# x\n\n!!! note "A title"\n\n    Words.\n\n=== "A"\n\n    One.\n\n=== "B"\n\n    Two.\n\n??? tip\n\n    Words.\n',
    ],
  ),
  ...of(
    ["sphinx"],
    [
      "Title\n=====\n\nSome *words*, ``code`` and a `link <https://known.example/>`_.\n\n.. note:: Words.\n\n.. code-block:: python\n\n   print(1)\n\n:doc:`index`\n",
    ],
    "docs/§.rst",
  ),
  ...of(["sphinx"], ["# x\n\n```{note}\nWords.\n```\n\n:::{tip}\nWords.\n:::\n"]),
  ...of(
    ["asciidoctor"],
    [
      "= Title\n\nSome *words*, `code` and a https://known.example/[link].\n\nNOTE: Words.\n\n[source,js]\n----\nx < 1;\n----\n\n|===\n| A | B\n|===\n\n. one\n. two\n",
    ],
  ),
  ...of(
    ["vitepress"],
    [
      "# x\n\n::: tip A title\nWords.\n:::\n\n::: code-group\n\n```sh [npm]\nnpm i\n```\n\n```sh [yarn]\nyarn\n```\n\n:::\n\n::: details\nWords.\n:::\n",
      '# x\n\n<Badge type="tip" text="new" />\n\n> [!NOTE]\n> Words.\n\n```ts{1} [a.ts]\nconst a = 1;\n```\n',
    ],
  ),
  ...of(
    ["vitepress"],
    ["nav: [{ text: 'Start', link: '/' }, { text: 'More', link: '/index' }],"],
    ".vitepress/config.mjs",
  ),
  ...of(
    ["docusaurus"],
    [
      "# x\n\n:::note[A title]\n\nWords.\n\n:::\n\n<details>\n<summary>More</summary>\n\nWords.\n\n</details>\n",
      "import Tabs from '@theme/Tabs';\nimport TabItem from '@theme/TabItem';\n\n# x\n\n<Tabs>\n<TabItem value=\"a\" label=\"A\">\n\nOne.\n\n</TabItem>\n</Tabs>\n",
    ],
  ),
  ...of(["starlight"], [`${starlight}:::note[A title]\nWords.\n:::\n`]),
  ...of(
    ["starlight"],
    [
      `${starlight}import { Aside, Card, Steps } from '@astrojs/starlight/components';\n\n<Aside>Words.</Aside>\n\n<Card title="A">Words.</Card>\n\n<Steps>\n\n1. one\n2. two\n\n</Steps>\n`,
    ],
    "src/content/docs/§.mdx",
  ),
  ...of(
    ["nextra"],
    [
      "import { Callout, Steps } from 'nextra/components'\n\n# x\n\n<Callout>Words.</Callout>\n\n<Steps>\n### One\n\nWords.\n</Steps>\n",
    ],
  ),
  ...of(["hugo"], ["---\ntitle: x\nweight: 3\n---\n\nSome words. {#x}\n"]),
  ...of(["jekyll"], ["# x\n\nWords.\n{: .note }\n\n```ruby\nputs 1\n```\n"]),
];
