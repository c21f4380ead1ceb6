/** Where Emend does not agree with a builder, row by row, and why that is left as it is. */
export const differences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  mkdocs: {
    "heading 59 Generic\\<T> type":
      "Python-Markdown takes an escaped `<T>` for a tag when it makes the id; no page writes that.",
    "ids of admonition": "Tabs have numbered ids for their style sheets; nobody links to them.",
  },
  vitepress: {
    "link guide/auth → ?x=1":
      "A link of a query alone stays on its page in a browser; VitePress takes it for a page without a name.",
    "link guide/auth → ?x=1#here": "The same with a fragment.",
    "heading 36 &amp; entity &lt;tag&gt;":
      "VitePress makes ids of entities as written. Emend shows headings as readers see them.",
  },
  "vitepress-base": {
    "link guide/auth → ?x=1":
      "With clean addresses VitePress writes `./?x=1`, which leads to the folder. No page links like that.",
    "link guide/auth → ?x=1#here": "The same with a fragment.",
    "heading 36 &amp; entity &lt;tag&gt;":
      "VitePress makes ids of entities as written. Emend shows headings as readers see them.",
  },
  docusaurus: {
    "link guide/auth → #top": "Docusaurus reports `#top`; browsers go to the top of the page.",
    "heading 31 ![alt](/d.png) Image": "Docusaurus adds the alternative text of pictures to ids of headings.",
  },
  starlight: {
    "heading 31 ![alt](/d.png) Image": "Astro keeps the space after a picture that begins a heading as a dash.",
  },
  nextra: {
    "link guide/auth → ../index.mdx": "Next answers at `/index` with the first page, and at no other folder's `index`.",
    "heading 31 ![alt](/d.png) Image": "Nextra keeps the space after a picture that begins a heading as a dash.",
    "ids of mdx-id": "Nextra makes the text of a comment a part of the id; its own form for ids is `[#id]`.",
  },
  mintlify: {
    "link guide/auth → ..": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → ../": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → /lib": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → /lib/": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → ../lib": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → ../lib/": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/deep/token → ../..": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → #top": "Browsers go to the top of the page.",
    "link guide/auth → //example.org/x": "It leads to another host; Mintlify's check takes it for a path.",
    "link start → /docs/guide/keys":
      "Sites may be served below `/docs`, which no file says; links with it are accepted.",
    "ids of anchors":
      "Mintlify's check reads elements on lines of their own; browsers find an id inside a sentence, too.",
    "ids of names": "Browsers find `<a name>`, which Mintlify's check does not read.",
    "ids of html-heading": "Browsers find the id of an HTML heading, which Mintlify's check does not read.",
  },
};
