// Longer than other files: one table of shapes, by cause.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { judgeEdit } from "../test/judge-edit.ts";
import { file, judge, long, type Site } from "../test/shape-sites.ts";

// One file over 500 lines: what is refused and what passes stand together, so that a shape that changes sides is seen.

/** VitePress's configuration with one more entry in a list that has a name of its own. */
function guides(entry: string): string {
  return file("vitepress", ".vitepress/config.ts").replace("'/guide/a' }", `'/guide/a' },\n  ${entry}`);
}

const ran = "process.getBuiltinModule('fs').writeFileSync('/tmp/x','')";

/** Every shape with which a fresh attacker got something published, by its cause. */
const shapes: Readonly<Record<string, ReadonlyArray<readonly [site: Site, path: string, text: string]>>> = {
  "a lone CR that ends a comment": [
    [
      "mkdocs",
      "mkdocs.yml",
      file("mkdocs", "mkdocs.yml").replace("below\n", "below\rextra: !!python/object/apply:os.system [id]\n"),
    ],
    [
      "mkdocs",
      "mkdocs.yml",
      file("mkdocs", "mkdocs.yml").replace("index.md", "index.md # a\rextra: !!python/name:os.x"),
    ],
    [
      "vitepress",
      ".vitepress/config.ts",
      file("vitepress", ".vitepress/config.ts").replace("the start\n", `the start\r...(${ran}),\n`),
    ],
    [
      "docusaurus",
      "docusaurus.config.js",
      file("docusaurus", "docusaurus.config.js").replace("items: [", `items: [ // a\r...(${ran}),\n`),
    ],
    ["docusaurus", "sidebars.js", `module.exports = { // a\r...(${ran}),\ndocs: ["index"] };\n`],
    ["docusaurus", "docs/nav.js", `module.exports = [ // a\u2028${ran}\n];\n`],
    [
      "starlight",
      "astro.config.mjs",
      file("starlight", "astro.config.mjs").replace("sidebar: [", `sidebar: [ // a\u2029...(${ran}),\n`),
    ],
    ["nextra", "content/_meta.js", `export default { // a\r...(${ran}),\nindex: 'Home' }\n`],
    [
      "jekyll",
      "_config.yml",
      file("jekyll", "_config.yml").replace("- index.md", "- index.md # a\u0085plugins: [evil]"),
    ],
  ],
  "front matter that runs": [
    ["jekyll", "new.md", "---\ntitle: New\npermalink: /app.js\n---\n\nText.\n"],
    ["hugo", "content/new.md", '{\n  "title": "x",\n  "markup": "html"\n}\n\nText.\n'],
    ["mkdocs", "docs/new.md", "title: x\ntemplate: a.html\n\n# New\n"],
    ["vitepress", "new.md", `---\u00a0js\n{ a: ${ran} }\n---\n\n# New\n`],
    ["vitepress", "new.md", `\ufeff---js\n{ a: ${ran} }\n---\n\n# New\n`],
    ["vitepress", "new.md", `---js\n{ a: ${ran} }\n---\n\n# New\n`],
    ["vitepress", "new.md", "---\ntitle: New\n--- \n\n# New\n"],
    ["mkdocs", "docs/new.md", "---\ntitle: !!python/name:os.system x\n---\n\n# New\n"],
    ["mkdocs", "docs/new.md", "---\ntitle: New\n...\n<script>evil()</script>\n---\n\n# New\n"],
  ],
  "a fence that the builder compiles or runs": [
    ["nextra", "content/new.mdx", '# New\n\n```ts twoslash\n// @paths: {"a": ["/etc/a"]}\nimport a from "a"\n```\n'],
    ["docusaurus", "docs/new.mdx", "# New\n\n- a\nb\n\n  ```\n<Evil x={y} />\n  ```\n"],
    ["vitepress", "new.md", "# New\n\n- a\n\n\t```demo\n\tText.\n\t```\n"],
    ["nextra", "content/new.mdx", '# New\n\n```ts twoslash\nimport a from "/etc/a"\n```\n'],
    ["hugo", "layouts/partials/llms.txt", '```\n{{ os.ReadFile "hugo.toml" }}\n```\n'],
    ["hugo", "layouts/_default/single.md", '```\n{{ os.ReadFile "hugo.toml" }}\n```\n'],
    ["mkdocs", "docs/llms.txt", "```\n{{ config }}\n```\n"],
    ["vitepress", "new.md", "# New\n\n```html-vue\n{{ evil() }}\n```\n"],
    ["docusaurus", "docs/new.mdx", "# New\n\n```jsx live\nevil()\n```\n"],
    ["mkdocs", "docs/new.md", '# New\n\n```python exec="on"\nevil()\n```\n'],
    ["sphinx", "docs/new.md", "# New\n\n```{code-cell} python\nevil()\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n```{eval-rst}\n.. raw:: html\n```\n"],
  ],
  "known code with text behind it": [
    ["nextra", "content/new.mdx", "# New\n\n<include>../../../../etc/passwd</include>\n"],
    ["vitepress", "new.md", `# New\n\n${long.replace("</script>", "evil()\n</script>")}\n`],
    ["vitepress", "long.md", `# Long\n\n${long.replace("</script>", "evil()\n</script>")}\n`],
  ],
  "code that a deleted fence sets free": [
    ["vitepress", "fence.md", "# Fence\n\n{{ config.secret }}\n\nEnd.\n"],
    ["vitepress", "fence.md", "# Fence\n\n```js\n```\n<img src=x onerror=alert(1)>\n```\n\nEnd.\n"],
    ["vitepress", "fence.md", "# Fence\n\n- ```js\n  x\n  ```\n\n<img src=x onerror=alert(1)>\n\n  ```\n"],
  ],
  "files of the building machine": [
    ["jekyll", "llms.txt", "---\ntitle: New\n---\n\n{% include_relative _config.yml %}\n"],
    ["vitepress", "new.md", "# New\n\n![x](<../../a b.png>)\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n:download:`x <../../../proc/self/environ>`\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. image:: ../../../../proc/self/environ\n"],
    ["sphinx", "docs/new.md", "# New\n\n{download}`x <../../../proc/self/environ>`\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n* .. include:: /etc/passwd\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. include :: /etc/passwd\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. literalinclude:: /etc/passwd\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. csv-table::\n   :file: /etc/passwd\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\ninclude::/etc/pass wd[]\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nimage::../../../../etc/pass wd[opts=inline]\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nifdef::a[include::/etc/passwd[]]\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n|===\na|include::/etc/passwd[]\n|===\n"],
    ["mkdocs", "docs/new.md", '# New\n\n--8<-- "/etc/passwd"\n'],
    ["mkdocs", "docs/new.md", '# New\n\n```\n--8<-- "../../etc/passwd"\n```\n'],
    ["docusaurus", "docs/new.mdx", "# New\n\n![x](../../../../etc/passwd)\n"],
  ],
  "a path from the root of the site": [
    ["sphinx", "docs/a/b/c/new.rst", "New\n===\n\n.. image:: /../../x.txt\n"],
    ["sphinx", "docs/a/b/c/new.rst", "New\n===\n\n.. include:: /../docs/index.rst\n"],
    ["sphinx", "docs/a/b/c/new.md", "# New\n\n[x](/../../x.txt)\n"],
    ["docusaurus", "docs/a/b/c/new.mdx", "# New\n\n[x](@site/../x.txt)\n"],
  ],
  "a definition that is not seen as one": [
    ["sphinx", "docs/new.md", "# New\n\n![x][a b]\n\n[a\nb]: ../../x.txt\n"],
    ["sphinx", "docs/new.md", "# New\n\n![x][a\\]b]\n\n[a\\]b]: ../../x.txt\n"],
    ["sphinx", "docs/new.md", "# New\n\n![x][r]\n\n1. [r]: ../../x.txt\n"],
    ["sphinx", "docs/new.md", '# New\n\n<b title="a\n\n![x](../../x.txt)\n">\n'],
  ],
  "indented code that is rendered": [
    ["mkdocs", "docs/new.md", "# The `<img src=x onerror=evil()>`\n"],
    ["mkdocs", "docs/new.md", "# New\n\n!!! note\n\n        <script>evil()</script>\n"],
    ["mkdocs", "docs/new.md", "# New\n\n- a\n\n        <img src=x onerror=evil()>\n"],
    ["mkdocs", "docs/new.md", "# New\n\n ~~~\n<script>evil()</script>\n ~~~\n"],
    ["jekyll", "new.md", "# New\n\n    {{ site.github.token }}\n"],
  ],
  "attribute lists": [
    ["mkdocs", "docs/new.md", "# New { word }\n"],
    ["mkdocs", "docs/new.md", "# New\n\n| a { word } |\n|---|\n| b |\n"],
    ["mkdocs", "docs/new.md", "# New\n\n/// note | A\n    attrs:\n      onclick: evil()\n\nText.\n\n///\n"],
    ["mkdocs", "docs/new.md", "# New\n\n> /// note | A\n>     attrs:\n>       onclick: evil()\n>\n> ///\n"],
    ["jekyll", "new.md", "# New\n\nText.\n{: onclick=evil() }\n"],
    ["mkdocs", "docs/new.md", "# New\n\n[a](b.md){onclick=evil()}\n"],
    ["vitepress", "new.md", "# New {onclick=evil()}\n"],
    ["vitepress", "new.md", '# New\n\nText {srcdoc="<script>"}\n'],
  ],
  "Markdown inside HTML": [
    ["mkdocs", "docs/new.md", "# New\n\n<div>\n`<img src=x onerror=evil()>`\n</div>\n"],
    ["mkdocs", "docs/new.md", '# New\n\n<div markdown="1" onclick="evil()">a</div>\n'],
    ["vitepress", "new.md", "# New\n\n<div>\n```\n<img src=x onerror=evil()>\n```\n</div>\n"],
  ],
  "expressions and names made of constants": [
    ["docusaurus", "docs/new.mdx", '# New\n\n{[<img src="x" onError={evil} />]}\n'],
    ["docusaurus", "docs/new.mdx", '# New\n\nexport const T = "script"\n\n<T>evil()</T>\n'],
    ["docusaurus", "docs/new.mdx", '# New\n\n<Card {...{dangerouslySetInnerHTML: {__html: "x"}}} />\n'],
    ["docusaurus", "docs/new.mdx", "# New\n\n{process.env.TOKEN}\n"],
  ],
  "elements that change how the rest is read": [
    ["vitepress", "new.md", '# New\n\n<noembed><img title="</noembed><img src=x onerror=evil()>"></noembed>\n'],
    ["mkdocs", "docs/new.md", '# New\n\n<xmp><p title="</xmp><script>evil()</script>"></xmp>\n'],
    ["mkdocs", "docs/new.md", "# New\n\n<svg><title><script>evil()</script></title></svg>\n"],
    ["mkdocs", "docs/new.md", "# New\n\n<svg><style><img src=x onerror=evil()></style></svg>\n"],
    ["mkdocs", "docs/new.md", "# New\n\n<![CDATA[<script>evil()</script>]]>\n"],
  ],
  "SVG files with script": [
    [
      "mkdocs",
      "docs/a.svg",
      '<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.w3.org/1999/xlink"><use inkscape:href="javascript:evil()"/></svg>',
    ],
    ["mkdocs", "docs/a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><title><script>evil()</script></title></svg>'],
    [
      "mkdocs",
      "docs/a.svg",
      '<svg xmlns="http://www.w3.org/2000/svg"><style><![CDATA[</style><script>evil()</script>]]></style></svg>',
    ],
    ["mkdocs", "docs/a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><![CDATA[x]]><script>evil()</script></svg>'],
    ["mkdocs", "docs/a.svg", '<?xml-stylesheet href="x.xsl"?><svg xmlns="http://www.w3.org/2000/svg"/>'],
    ["mkdocs", "docs/a.svg", '<svg xmlns="http://www.w3.org/2000/svg" onload="evil()"/>'],
    [
      "mkdocs",
      "docs/a.svg",
      '<svg xmlns="http://www.w3.org/2000/svg"><a href="javascript:evil()"><text>x</text></a></svg>',
    ],
    ["mkdocs", "docs/a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><use href="https://evil.test/x#a"/></svg>'],
    ["mkdocs", "docs/a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><foreignObject><b/></foreignObject></svg>'],
    [
      "mkdocs",
      "docs/a.svg",
      '<svg xmlns="http://www.w3.org/2000/svg"><rect style="fill:url(https://evil.test/x)"/></svg>',
    ],
    [
      "mkdocs",
      "docs/a.svg",
      '<!DOCTYPE svg [<!ENTITY e "x">]><svg xmlns="http://www.w3.org/2000/svg"><text>&e;</text></svg>',
    ],
  ],
  "HTML in front matter": [
    ["vitepress", "new.md", "---\nlayout: home\nhero:\n  tagline: <img src=x onerror=evil()>\n---\n"],
    ["starlight", "src/content/docs/new.md", "---\ntitle: New\nbanner:\n  content: <img src=x onerror=evil()>\n---\n"],
    ["starlight", "src/content/docs/new.md", "---\ntitle: New\nhead:\n  - tag: script\n    content: evil()\n---\n"],
  ],
  "escapes in navigation": [
    ["vitepress", ".vitepress/config.ts", guides("{ text: 'B', link: 'javascript:alert(1)' }")],
    ["vitepress", ".vitepress/config.ts", guides("{ text: '<img src=x onerror=alert(1)>', link: '/' }")],
    ["vitepress", ".vitepress/config.ts", guides("{ text: 'B', link: process.exit() }")],
    ["vitepress", ".vitepress/config.ts", guides("{ text: 'B', onclick: '/' }")],
    [
      "docusaurus",
      "docusaurus.config.js",
      file("docusaurus", "docusaurus.config.js").replace("'a', to", "'\\x3cimg src=x onerror=evil()>', to"),
    ],
    ["docusaurus", "sidebars.js", "module.exports = { docs: ['\\x3cimg src=x>'] };\n"],
    [
      "vitepress",
      ".vitepress/config.ts",
      file("vitepress", ".vitepress/config.ts").replace("'Home'", "'<img src=x onerror=evil()>'"),
    ],
    [
      "vitepress",
      ".vitepress/config.ts",
      file("vitepress", ".vitepress/config.ts").replace("'/'", "'javascript:evil()'"),
    ],
    ["mkdocs", "mkdocs.yml", file("mkdocs", "mkdocs.yml").replace("- Home: index.md", '- "\\x3cimg src=x>": index.md')],
    [
      "mkdocs",
      "mkdocs.yml",
      file("mkdocs", "mkdocs.yml").replace("- Home: index.md", "- Home: &a index.md\n  - More: *a"),
    ],
    [
      "vitepress",
      ".vitepress/config.ts",
      file("vitepress", ".vitepress/config.ts").replace("link: '/'", "link: 'java\tscript:evil()'"),
    ],
    ["mkdocs", "mkdocs.yml", `${file("mkdocs", "mkdocs.yml")}hooks:\n  - evil.py\n`],
  ],
  "Vue literals": [
    ["vitepress", "new.md", "# New\n\n<iframe :srcdoc=\"'<script>evil()'\"></iframe>\n"],
    ["vitepress", "new.md", "# New\n\n<a :href=\"'javascript:evil()'\">x</a>\n"],
    ["vitepress", "new.md", '# New\n\n<Badge :text="evil()" />\n'],
    ["vitepress", "new.md", "# New\n\n&#123;&#123; evil() }}\n"],
    ["vitepress", "new.md", "# New\n\n\\{\\{ evil() }}\n"],
  ],
  "reStructuredText that other readers miss": [
    ["sphinx", "docs/new.rst", "New\n===\n\n.. raw :: html\n\n   <script>evil()</script>\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n- .. raw:: html\n\n     <script>evil()</script>\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n`x <java\\script:evil()>`_\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. role:: html(raw)\n   :format: html\n\n:html:`<script>`\n"],
  ],
  "markup that begins inside a line": [
    ["sphinx", "docs/new.rst", "New\n===\n\n.. note:: .. include:: index.rst\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. [1] .. raw:: html\n\n      <script>evil()</script>\n\n   x\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n`x`__\n\n__ java\\script:evil()\n"],
    ["antora", "modules/ROOT/pages/new.adoc", '= New\n\n[cols="a"]\n|===\n|[pass]\n<script>evil()</script>\n|===\n'],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n|===\na|:stylesheet: /x.css\n|===\n"],
    ["nextra", "content/new.mdx", "# New\n\n::include[a.txt]\n"],
  ],
  "a value that goes on in the next line": [
    ["sphinx", "docs/new.rst", "New\n===\n\n.. include:: index.rst\n   /../../x.txt\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. literalinclude:: index.rst\n   /../../x.txt\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. image:: /\n   /attacker.test/x.png\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. figure:: a.png\n   :target: java\n      script:evil()\n"],
    ["sphinx", "docs/new.rst", `New\n===\n\n\`x <javascript:evil()//${"a".repeat(2_100)}>\`_\n`],
  ],
  "AsciiDoc that passes text through": [
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n_pass:[<script>evil()</script>]_\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n_image:../../../../../etc/passwd[]_\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n:other: Read this\n\nText.\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nhttps://ev++++il.test/[x]\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n====\n----\n====\n+++<script>evil()</script>+++\n----\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n|===\n|\n----\n|+++<script>evil()</script>+++\n----\n|===\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n[pass]\n\n----\n+++<script>evil()</script>+++\n----\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nText\n----\n+++<script>evil()</script>+++\n----\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nNow {base-uri}.attacker.test/x[click].\n"],
    ["antora", "modules/ROOT/pages/new.adoc", '= New\n\nimage::a.png[link="java&#115;cript:alert(1)"]\n'],
    ["antora", "modules/ROOT/pages/new.adoc", '= New\n\nimage::a.png[link="java\tscript:alert(1)"]\n'],
    ["antora", "modules/ROOT/pages/new.adoc", '= New\n\nimage::a.png[alt="]",link="java&#115;cript:alert(1)"]\n'],
    ["antora", "modules/ROOT/pages/new.adoc", '= New\n\nimage::a.png[a\\],link="java&#115;cript:alert(1)"]\n'],
    ["antora", "modules/ROOT/pages/new.adoc", '= New\n:description: x" onclick="alert(1)\n\nText.\n'],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n[pass]\n<script>evil()</script>\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n[pass,x]\n--\n<script>evil()</script>\n--\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n[stem]\nx\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n:style sheet: x.css\n\nx\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n:ä: attacker.test\n\nhttps://{ä}/\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nxref:javascript:evil()[x]\n"],
  ],
  "unknown domains": [
    ["hugo", "content/new.md", '# New\n\n{{< figure src="https://attacker.test/a.png" alt="A" >}}\n'],
    ["hugo", "content/new.md", '# New\n\n{{< figure src="a.png" link="javascript:evil()" >}}\n'],
    ["hugo", "content/new.md", '# New\n\n{{< figure src="a.png" caption="[x](java&#115;cript:evil())" >}}\n'],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. _a:\n   https://attac\n   ker.test/\n"],
    ["mkdocs", "docs/new.md", '# New\n\n```js icon="https://attacker.test/x.png"\na\n```\n'],
    ["mkdocs", "docs/new.md", "# New\n\n![x](< //attacker.test/x.png>)\n"],
    ["vitepress", "public/llms.txt", "# All\n\n[a](https://attacker.test/)\n"],
    ["vitepress", ".vitepress/config.ts", guides("{ text: 'B', link: 'https://attacker.test/' }")],
    ["hugo", "content/new.md", '# New\n\n{{< youtube id="https://attacker.test" title="Some words" >}}\n'],
    ["jekyll", "new.md", '# New\n\n{% openapi src="https://attacker.test/a.json" path="/a" method="get" %}\n'],
    ["sphinx", "docs/new.rst", "New\n===\n\n`x <https://attacker\n.test/>`_\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n.. _x: https://attac\n   ker.test/\n\nx_\n"],
    ["mkdocs", "docs/new.md", "# New\n\n![a](a.png){src=https://attacker.test/}\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n:h: attacker.test\n\nimage::https://{h}/x.png[]\n"],
    ["mkdocs", "docs/new.md", "# New\n\n[x](https://:h/)\n"],
    ["mkdocs", "docs/new.md", "# New\n\n[x](mailto:a@attacker.test)\n"],
    ["hugo", "content/new.md", "# New\n\n![x](https://known.test/endpoint?url=https://attacker.test/x)\n"],
    ["hugo", "content/new.md", "# New\n\n![x](https://known.test/endpoint?url=https%3A%2F%2Fattacker.test%2Fx)\n"],
    ["hugo", "content/new.md", "# New\n\n![x](https://known.test/endpoint?url=attacker.test/x)\n"],
    ["mkdocs", "docs/new.md", '# New\n\n<p style="background:url(https://attac\\ker.test/x)">x</p>\n'],
    ["mkdocs", "_redirects", "/a https://:h/ 301\n"],
    ["mkdocs", "_redirects", "/a https://attacker.test/ 301\n"],
  ],
  paths: [
    ["mkdocs", ".tekton/nav.yaml", "- a\n"],
    ["mkdocs", ".builds/nav.yml", "- a\n"],
    ["mkdocs", "k8s/menu.yaml", "kind: Pod\n"],
    ["mkdocs", "docs/.hidden/_meta.js", "export default {}\n"],
    ["mkdocs", "DOCS/new.md", "# New\n"],
    ["mkdocs", "docs/INDEX.md", "# New\n"],
    ["mkdocs", "docs/ｉndex.md", "# New\n"],
  ],
  "text that is not seen": [
    ["mkdocs", "docs/new.md", "# New\n\nText\u{e0100}\u{e0101}\u{e0102}.\n"],
    ["mkdocs", "docs/new.md", "# New\n\nText\ufe00\ufe01.\n"],
    ["mkdocs", "docs/new.md", "# New\n\nA\u200bB \u202e \u{e0041}.\n"],
    ["docusaurus", "docs/new.mdx", "# New\n\u2028\nText.\n"],
  ],
  "a directive's title and options in MyST": [
    ["sphinx", "docs/new.md", "# New\n\n```{admonition} <img src=x onerror=alert(1)>\nText.\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n:::{grid-item-card} A\n:link: javascript:alert(1)\n:::\n"],
    ["sphinx", "docs/new.md", "# New\n\n:::{card} A\n---\nlink: javascript:alert(1)\n---\n:::\n"],
    ["sphinx", "docs/new.md", "# New\n\n```{card} A\n---\nlink: javascript:alert(1)\n---\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n```{toctree}\n:maxdepth: 1\n\nA <javascript:alert(1)>\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n```{raw} html\n<script>alert(1)</script>\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n```{parsed-literal}\n<img src=x onerror=alert(1)>\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n```{math}\n\\\\href{javascript:alert(1)}{x}\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n:::{image} ../../../etc/passwd\n:::\n"],
    ["sphinx", "docs/new.md", "# New\n\n```{note}\n```{include} ../../secret\n```\n"],
    ["sphinx", "docs/new.md", "# New\n\n- a\n\n\t```{include} ../../secret\n\t```\n"],
  ],
  "a role with more than words": [
    ["sphinx", "docs/new.rst", "New\n===\n\n:gh-user:`../../secret`\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n:gh-user:`a <javascript:alert(1)>`\n"],
    ["sphinx", "docs/new.rst", "New\n===\n\n:gh-file:`a`\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nlink:{base}//evil.test/[x]\n"],
    ["antora", "modules/ROOT/pages/new.adoc", "= New\n\n{set:h:evil.test} {user-home}\n"],
  ],
  "comments that hold more than words": [
    ["mkdocs", "docs/new.md", "# New\n\n<!-- Note: <script>alert(1)</script> -->\n"],
    ["mkdocs", "docs/new.md", "# New\n\n<!-- Note: [[[cog import os ]]] -->\n"],
    ["vitepress", "new.md", "# New\n\n<!-- @include: ../secret.md -->\n"],
    ["jekyll", "new.md", "# New\n\n<!-- Note: {% include x %} -->\n"],
    ["docusaurus", "docs/new.mdx", "# New\n\n<!-- Note: text -->\n"],
  ],
  "elements that HTML does not know": [
    ["mkdocs", "docs/new.md", "# New\n\n<tool onclick=alert(1)>\n"],
    ["mkdocs", "docs/new.md", "# New\n\n<svg:script>alert(1)</svg:script>\n"],
    ["mkdocs", "docs/new.md", "# New\n\n<form>\n"],
    ["mkdocs", "docs/new.md", "---\ndescription: >-\n  See <script>alert(1)</script>\n---\n\n# New\n"],
    ["mkdocs", "docs/new.md", "# New\n\n[a](https://kno\\_wn.test/v)\n"],
    ["mkdocs", "docs/new.md", '# New\n\n<div data-repo="a/b">\n'],
    ["docusaurus", "README.md", "# Read\n\n{process.env.TOKEN}\n"],
    ["mkdocs", "docs/new.md", "# New\n\n![A](../.github/a.png)\n"],
    ["vitepress", "new.md", "# New\n\n<tool>\n"],
    ["docusaurus", "docs/new.mdx", "# New\n\n<Tabs items={[<code>{process.env.TOKEN}</code>]}></Tabs>\n"],
  ],
  "code around a new file of navigation": [
    ["nextra", "content/a/_meta.js", "import './evil.js'\nexport default { index: 'Home' }\n"],
    ["nextra", "content/a/_meta.js", "const a = () => 1\nexport default { index: 'Home' }\n"],
  ],
};

it.each(Object.entries(shapes).flatMap(([cause, rows]) => rows.map((row) => [cause, ...row] as const)))(
  "refuses %s (%s, %s): %j",
  async (_, site, path, text) => {
    expect((await judge(site, path, text)).violations).not.toEqual([]);
  },
);

it("has the causes of the security model, and no others", () => {
  const model = readFileSync(new URL("../../../docs/security-model.md", import.meta.url), "utf8");
  const [, table = ""] = /\n\| cause \| what happens now \|\n\|[-|]*\n((?:\|.*\n)*)/.exec(model) ?? [];
  const causes = [...table.matchAll(/^\| (.*?) \|/gm)].map(([, cause]) => cause);
  expect(causes.sort()).toEqual(Object.keys(shapes).sort());
});

it.each<readonly [Site, string, string]>([
  [
    "mkdocs",
    "docs/new.md",
    '# New { #new }\n\n!!! note "A title"\n    Text with `<code>`.\n\n=== "Tab"\n\n    Text.\n',
  ],
  ["mkdocs", "docs/new.md", "# New\n\n```yaml\nrun: {{ secrets.TOKEN }}\n```\n\n| a | b |\n|---|---|\n| 1 | `x` |\n"],
  ["mkdocs", "docs/new.md", "# New\n\n![A](.gitbook/assets/a.png)\n"],
  ["mkdocs", "mkdocs.yml", `${file("mkdocs", "mkdocs.yml")}  - "A: b": index.md\n`],
  [
    "vitepress",
    "new.md",
    '---\ntitle: New\n---\n\n# New {#new}\n\n::: tip Title\nText.\n:::\n\n- a\n\n  ```ts {1,3} [a.ts]\n  const a = {{}}\n  ```\n\n<Badge type="info" text="other" />\n',
  ],
  [
    "vitepress",
    ".vitepress/config.ts",
    file("vitepress", ".vitepress/config.ts").replace("link: '/' }", "link: '/' }, { text: 'More', link: '/more' }"),
  ],
  [
    "docusaurus",
    "docs/new.mdx",
    '# New\n\nimport Tabs from "@theme/Tabs"\n\n<Tabs items={["a", "b"]}>\n\nUse \\<b> or \\{x}.\n\n</Tabs>\n\n{/* a remark */}\n',
  ],
  [
    "docusaurus",
    "sidebars.js",
    'module.exports = { docs: ["index", { type: "category", label: "A", items: ["b"] }] };\n',
  ],
  [
    "starlight",
    "astro.config.mjs",
    file("starlight", "astro.config.mjs").replace("link: '/a' }", "link: '/a' }, { label: 'b', link: '/b' }"),
  ],
  ["jekyll", "new.md", "---\ntitle: New\n---\n\nText.\n{: .note}\n\nSee [a]({% link docs/guide.md %}).\n"],
  ["hugo", "content/new.md", '+++\ntitle = "New"\n+++\n\n{{< note >}}\nText.\n{{< /note >}}\n'],
  ["hugo", "hugo.toml", `${file("hugo", "hugo.toml")}\n[[menu.main]]\nname = "More"\nurl = "/more"\n`],
  [
    "sphinx",
    "docs/new.rst",
    "New\n===\n\n.. note::\n\n   See :doc:`index` and `us <https://known.test/b>`_.\n\n.. code-block:: python\n   :linenos:\n\n   import os\n",
  ],
  [
    "sphinx",
    "docs/new.rst",
    "New\n===\n\n.. image:: a.png\n   :alt: A\n\nIn JavaScript: see x__.\n\n__ https://known.test/b\n\n.. [1] A note.\n",
  ],
  [
    "antora",
    "modules/ROOT/pages/new.adoc",
    "= New\n:page-layout: a\n\n[%header,cols=2*]\n|===\n|a |b\n|===\n\n[quote, A. Person]\nText, <<new,here>> and xref:a:b:c.adoc#d[there].\n",
  ],
  [
    "antora",
    "modules/ROOT/pages/new.adoc",
    "= New\n\nNOTE: See xref:index.adoc[].\n\n[source,js]\n----\nlet a = 1\n----\n",
  ],
  ["nextra", "content/_meta.js", "export default { index: 'Home', more: 'More' }\n"],
  ["vitepress", "new.md", "# New\n\nSee [a](<a (1).md>).\n\n```json [a.json ~icons:json~]\n{}\n```\n"],
  ["vitepress", "public/llms-full.txt", "# All\n\n<script>{{ a }}</script>\n\n[a](https://known.test/b)\n"],
  [
    "vitepress",
    ".vitepress/config.ts",
    file("vitepress", ".vitepress/config.ts").replace(
      "'/guide/a' }",
      "'/guide/a' },\n  { text: 'B', link: '/guide/b' }",
    ),
  ],
  ["mkdocs", "mkdocs.yml", file("mkdocs", "mkdocs.yml").replace("- a.md", "- a.md\n          - b.md")],
  ["mkdocs", "docs/new.md", "# New\n\nRun `lint:<tool>` with `--all --group <group>`.\n\n```shell-session\n$ a\n```\n"],
  ["mkdocs", "docs/new.md", "<!-- ## Old\n\nSee [us](https://known.test/a), **now**.\n-->\n\n# New\n"],
  ["mkdocs", "docs/new.md", '# New\n\n<img src="assets/a (1).png" alt="A">\n'],
  ["nextra", "content/a/_meta.js", "export default { more: 'More' }\n"],
  [
    "sphinx",
    "docs/new.rst",
    "New\n===\n\n:gh-user:`other-one`, :gh-user:`The team <a/b>`, :data:`request` and |x|.\n\n.. |x| replace:: `us <https://known.test/b>`_\n",
  ],
  ["antora", "modules/ROOT/pages/new.adoc", "= New\n\nSee link:{docs-uri}/a/#b[it] and {a: 'b'}.\n"],
  [
    "antora",
    "modules/ROOT/pages/new.adoc",
    '= New\n\n// tag::a[]\nWrite {NAME} and {product-version}.\n// end::a[]\n\ninclude::partial$a.adoc[tag="a.b"]\n\n[source,sh,subs="+quotes"]\n----\n*a*\n----\n',
  ],
  [
    "mkdocs",
    "docs/new.md",
    "---\ndescription: >-\n  See this: a word.\n  Then go on:\n---\n\n# New\n\n[a](https://known.test/v?a\\_b=c\\&d=e)\n",
  ],
  ["docusaurus", "README.md", "# Read\n\n- a\n\n  ```html\n  <script src={x}></script>\n  ```\n"],
  [
    "mkdocs",
    "docs/new.md",
    "# New\n\nSee [a], [it](../.github/a.yml) and $\\sum_{\\text{a}}$.\n\n[a]:\n  https://known.test/b\n",
  ],
  ["nextra", "content/new.mdx", "# New\n\n<Tabs items={[<code>a</code>, <b>c</b>]}>\n\nText.\n\n</Tabs>\n"],
  [
    "sphinx",
    "docs/new.md",
    "# New\n\n::::{grid} 3\n:outline:\n\n:::{grid-item-card} A\n:link: index\n:link-type: doc\nText.\n:::\n::::\n\n```{note} A *title*\n:class: tip\nText.\n```\n",
  ],
  ["hugo", "content/new.md", '# New\n\n{{< youtube id="b-2" title="Other words" >}} {{< param versions.go >}}\n'],
  [
    "jekyll",
    "new.md",
    '---\ntitle: New\nspelling: cSpell:ignore Rust\n---\n\n{% openapi src="a.json" path="/a/{id}" method="get" %}\n',
  ],
  ["mkdocs", "docs/new.md", "# Neu\n\nUn mot\u00a0: «\u00a0oui\u00a0». 👩\u200d💻 ❤\ufe0f می\u200cخواهم\n"],
  [
    "mkdocs",
    "docs/new.md",
    '---\ntitle: "The <name>"\n---\n\n# The `<tool>` of `List<T>`\n\nUse {name} here.\n\n/// details | A *title*\n    open: true\n\nText.\n\n///\n\n<!-- this is only a remark -->\n',
  ],
  ["mkdocs", "docs/new.md", "# New\r\n\r\n```yaml\r\na: {{ b }}\r\n```\r\n"],
  [
    "jekyll",
    "new.md",
    '---\ntitle: New\npermalink: /new/\n---\n\nSee [a]({{ site.baseurl }}{% link docs/guide.md %}#b).\n\n- Use `a`\n- <img src="{{ site.baseurl }}/a.png">\n- Use `<script>`\n',
  ],
  [
    "sphinx",
    "docs/new.rst",
    "New\n===\n\n.. NOTE: write more\n\n.. _`a b`:\n   https://known.test/c\n\n.. only:: html\n\n   Get it.\n\n.. code-block:: dosbatch\n\n   dir\n",
  ],
  [
    "antora",
    "modules/ROOT/pages/new.adoc",
    '= New\n:page-aliases: old.adoc, a::b.adoc\n:description: pass:q[The `x` of it]\n\nUse C++ and g++. See xref:a::b.adoc[c].\n\nimage::a:b.png[]\n\n[source,sh]\n----\nrun --now\n----\n\nIt is `["."]` then.\n',
  ],
  [
    "docusaurus",
    "docs/new.mdx",
    "# New\n\n<Tabs>\n\n   ```js\n  import a from 'b'\n  ```\n\n</Tabs>\n\nRun `a b <c>` now.\n",
  ],
  ["nextra", "content/new.mdx", '# New\n\n```ts twoslash\nimport a from "node:path"\nconst b = "/c"\n```\n'],
])("passes in %s, %s: %j", async (site, path, text) => {
  expect(await judge(site, path, text)).toEqual({ violations: [], findings: [] });
});

it("has people look at files that readers' programs open, and at images that are not whole", async () => {
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  const draft = { violations: [], findings: [{ check: "asset", severity: "error" }] };
  expect(await judge("mkdocs", "docs/a.png", png)).toEqual({ violations: [], findings: [] });
  expect(await judge("mkdocs", "docs/a.png", Buffer.concat([png, Buffer.from("<script>")]))).toMatchObject(draft);
  expect(await judge("mkdocs", "docs/a.png", "<svg/>")).toMatchObject(draft);
  for (const name of ["a.pdf", "a.woff2", "a.mp4"])
    expect(await judge("mkdocs", `docs/${name}`, "x")).toMatchObject(draft);
});

it("lets an SVG file move, and refuses one that is new or changed", async () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"/>\n';
  const site = { "mkdocs.yml": "site_name: Docs\n", "docs/a.svg": svg };
  const passed = { violations: [], findings: [] };
  expect(await judgeEdit(site, "docs/b/a.svg", svg, ["docs/a.svg"])).toEqual(passed);
  expect(await judgeEdit(site, "docs/a.svg", svg)).toEqual(passed);
  const refused = { violations: [{ rule: expect.stringContaining("SVG") }] };
  expect(await judgeEdit(site, "docs/b.svg", svg)).toMatchObject(refused);
  expect(await judgeEdit(site, "docs/a.svg", svg.replace("/>", ' id="a"/>'))).toMatchObject(refused);
});
