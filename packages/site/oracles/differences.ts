const docsifyFiles =
  "Docsify opens a file only with the title `:ignore`, which Emend does not read; it accepts every file that is there.";
const fumadocsTop = "It climbs above the folder of pages, where Fumadocs stays at the top; forges do not.";

const lastVersion = "Only the build knows which version is the last one: both addresses are accepted.";

/** Rows on which Emend disagrees with a builder, each with the reason why it stays. */
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
    "link guide/auth → .#nowhere":
      "VitePress calls the link dead and the folder's page has no such id; Emend says the first.",
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
    "link guide/auth → ..#here": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → ../#here": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → ../#nowhere": "Mintlify's check accepts folders; Emend does not judge them.",
    "link guide/auth → #top": "Browsers go to the top of the page.",
    "link guide/auth → //example.org/x": "It leads to another host; Mintlify's check takes it for a path.",
    "link start → /docs/guide/keys":
      "Sites may be served below `/docs`, which no file says; links with it are accepted.",
    "ids of anchors":
      "Mintlify's check reads elements on lines of their own; browsers find an id inside a sentence, too.",
    "ids of names": "Browsers find `<a name>`, which Mintlify's check does not read.",
    "ids of html-heading": "Browsers find the id of an HTML heading, which Mintlify's check does not read.",
  },
  hugo: {
    "heading 19 __init__": "Hugo keeps the underscores of the source; Emend compares by letters and digits.",
    "heading 30 [Link text](https://example.org)": "Hugo makes ids of headings as written, with the targets of links.",
    "heading 31 ![alt](/d.png) Image": "The same with pictures.",
    "heading 36 &amp; entity &lt;tag&gt;": "The same with entities.",
    "ids of footnotes": "Footnotes have ids for the way back to the text; nobody links to them.",
  },
  jekyll: {
    "heading 13 Foo -- bar": "kramdown makes a dash of two hyphens; Emend compares by letters and digits.",
    "heading 31 ![alt](/d.png) Image": "kramdown keeps the space after a picture that begins a heading as a dash.",
    "heading 44 plain words 1": "kramdown counts only equal texts, so that two headings may have one id.",
    "heading 45 Plain words-1": "The same.",
    "ids of footnotes": "Footnotes have ids for the way back to the text; nobody links to them.",
    "ids of details": "kramdown reads no Markdown inside HTML unless it is told to; Emend accepts the heading's id.",
  },
  mdbook: {
    "link guide/auth → ../lib/README.md":
      "mdBook 0.4 writes `README.md` as `index.html` and does not rewrite links to it; newer ones may.",
    "heading 21 Ünïcödé straße": "mdBook keeps capital letters outside of ASCII.",
    "heading 23 Привет, мир": "The same.",
    "heading 36 &amp; entity &lt;tag&gt;": "mdBook drops spaces at both ends; Emend compares by letters and digits.",
    "heading 44 plain words 1": "mdBook counts only equal texts, so that two headings may have one id.",
    "heading 45 Plain words-1": "The same.",
    "heading 49 N°1 ½ ²": "Fractions and small digits are no digits in GitHub's rule.",
    "ids of footnotes": "Footnotes have ids for the way back to the text; nobody links to them.",
    "ids of html-heading": "mdBook gives ids to headings written in HTML, too.",
  },
  "vitepress-forms": {
    "link packages/alpha/docs/intro → ../../../start.md":
      "It climbs above the top of the rewritten site, where browsers stay at the top; VitePress calls it dead.",
  },
  "docusaurus-forms": {
    "link docs/start → pathname:///notes.txt": "Emend does not follow `pathname:`, which Docusaurus leaves unchecked.",
  },
  "docusaurus-last-current": {
    "route docs/keys.md": lastVersion,
    "route docs/only-now.md": lastVersion,
    "route versioned_docs/version-2.0/keys.md": lastVersion,
    "link src/pages/index → /docs/keys": lastVersion,
    "link src/pages/index → /docs/next/keys": lastVersion,
    "link src/pages/index → /docs/next/only-now": lastVersion,
    "link versioned_docs/version-2.0/keys → /docs/keys": lastVersion,
  },
  "docusaurus-last-older": {
    "link src/pages/index → /docs/2.0/keys": lastVersion,
    "link src/pages/index → /docs/only-now": lastVersion,
    "link versioned_docs/version-2.0/keys → /docs/2.0/keys": lastVersion,
  },
  "starlight-forms": {
    "link start → #nowhere": "Text from outside of the pages is not read, so that any id may be its.",
    "link guide/keys → ../../start/#nowhere": "The same.",
  },
  "mintlify-forms": {
    "link start → #from-part": "Mintlify's check does not read the headings of snippets; the page has them.",
    "link v2/keys → /start#from-part": "The same.",
    "link v2/keys → /away": "The redirect leads to another site; Mintlify's check looks for a page.",
  },
  "hugo-forms": {
    "link start → /old/": "Emend follows an alias to its page.",
    "link start → /older/": "The same.",
    "link start → /deep/oldest/": "The same.",
    "link _index.fr → start/": "Hugo finds the translation by the name of a page; Emend the page itself.",
    "link guide/keys → ../slugged/":
      "Hugo finds a page by its file's path from the top or from the folder, not by that path as an address; Emend does.",
    "link bundle/index → part.md": "Hugo makes no link to a page that belongs to another; Emend accepts the file.",
    "link branch/leaf → picture.png": "Hugo finds what belongs to the page; Emend every file beside it.",
  },
  "sphinx-forms": {
    "picture guide/keys → ../pixel.png": "Sphinx copies no picture of a tag; Emend accepts the file.",
  },
  "mdbook-forms": { "route src/start.md": "mdBook serves its first chapter at the top, too." },
  docsify: {
    "link guide/auth → /index.html": docsifyFiles,
    "link guide/auth → /notes.txt": docsifyFiles,
    "link guide/auth → notes.txt": docsifyFiles,
    "heading 31 ![alt](/d.png) Image": "Docsify keeps the space after a picture that begins a heading as a dash.",
    "ids of footnotes": "Docsify reads no footnotes; nobody links to them.",
  },
  "docsify-relative": {
    "link guide/auth → /index.html": docsifyFiles,
    "link guide/auth → /notes.txt": docsifyFiles,
    "link guide/auth → notes.txt": docsifyFiles,
    "link guide/auth → ../guide/notes.txt": docsifyFiles,
    "link guide/auth → ..#here": "Docsify opens `..` and `../#here`, but not this; Emend reads the three alike.",
    "heading 31 ![alt](/d.png) Image": "Docsify keeps the space after a picture that begins a heading as a dash.",
    "ids of footnotes": "Docsify reads no footnotes; nobody links to them.",
  },
  "docsify-forms": { "route home.md": "Docsify serves its first page at the top and by its name." },
  fumadocs: {
    "link guide/auth → ../../start.mdx": fumadocsTop,
    "link guide/deep/token → ../../../start.mdx": fumadocsTop,
    "heading 31 ![alt](/d.png) Image": "Fumadocs keeps the space after a picture that begins a heading as a dash.",
    "ids of mdx-id": "Fumadocs makes the text of a comment a part of the id; its own form for ids is `[#id]`.",
  },
  "fumadocs-forms": {
    "route content/docs/twice/index.mdx":
      "A page and a folder of one name: Fumadocs then serves the folder's as `index`.",
    "link twice → /docs/twice/index": "The same.",
  },
  "fumadocs-languages": {
    "link index.fr → ./start.mdx": "Fumadocs leads on to the translation; Emend to the file that the link names.",
  },
  "fumadocs-folders": {
    "link en/index → ./start.mdx":
      "It looks for the file without its language's folder and finds none; Emend accepts the file.",
    "link fr/index → ./start.mdx": "The same.",
  },
  sphinx: {
    "link guide/auth → /": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link guide/auth → /guide": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link guide/auth → .": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link guide/auth → ./": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link guide/auth → ../lib/": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link guide/auth → ../lib": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link index → ./guide/": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link guide/deep/token → ../": "Sphinx has no addresses of folders; Emend accepts a folder with a page of its own.",
    "link guide/auth → keys.html":
      "Sphinx looks documents up by name; Emend accepts the address of the page that it makes.",
    "link guide/auth → ../start.html":
      "Sphinx looks documents up by name; Emend accepts the address of the page that it makes.",
    "link guide/auth → //example.org/x": "It leads to another host; MyST takes it for a name.",
    "link guide/auth → #": "An empty fragment is the top of the page in a browser; MyST looks for a name.",
    "link guide/auth → #top": "Browsers go to the top of the page.",
    "link guide/auth → /guide/keys#scopes":
      "MyST reads a fragment only after a name with its ending; Emend accepts the document.",
    "link guide/auth → /guide/keys#nowhere": "The same; both call it broken.",
    "link guide/auth → keys#scopes": "The same.",
    "link guide/auth → ./keys/#scopes": "The same.",
    "link guide/auth → .#here":
      "MyST 0.18 looked for the id on the page itself, which Emend accepts; 4.0 calls it broken.",
    "link guide/auth → ./#here": "The same.",
    "link guide/auth → .#nowhere": "The same; both find the fault.",
    "link guide/auth → ./#nowhere": "The same.",
    "link guide/auth → project:keys.md": "Emend does not follow `project:`; it is neither checked nor changed.",
    "heading 49 N°1 ½ ²": "Fractions and small digits are no digits in GitHub's rule.",
    "ids of anchors": "`myst-anchors` lists headings only.",
    "ids of footnotes": "Footnotes have ids for the way back to the text; nobody links to them.",
    "ids of html-heading": "`myst-anchors` lists headings only.",
  },
};

/**
 * The number of links in a table that Emend cannot judge although the builder can, and why. They never fail a change.
 */
export const unjudged: Readonly<Record<string, { rows: number; why: string }>> = {
  docsify: {
    rows: 20,
    why: "What climbs above the top leads there only where the host serves nothing above the site.",
  },
  "docsify-relative": {
    rows: 4,
    why: "What climbs above the top leads there in Docsify, and out of the site on a forge.",
  },
  fumadocs: { rows: 9, why: "Outside of the loader's base lie other pages of the application." },
  "fumadocs-languages": { rows: 3, why: "The same; untranslated pages are served in the default language." },
  "fumadocs-folders": { rows: 3, why: "The same." },
  hugo: { rows: 3, why: "Hugo makes pages of sections without one." },
  mdbook: {
    rows: 13,
    why: "Books of a family are served beside each other: what is above a book, or absolute, may be another.",
  },
  sphinx: { rows: 16, why: "A name with a dot or a capital may be an object of the code." },
  "sphinx-forms": { rows: 2, why: "The same." },
  "hugo-forms": {
    rows: 3,
    why: "Hugo makes pages of sections without one; a relative link that climbs above the content.",
  },
  "starlight-forms": {
    rows: 9,
    why: "Outside of the base may be another site; untranslated pages are served in the default language.",
  },
  "mintlify-forms": { rows: 1, why: "A folder without a page of its own." },
  "docusaurus-forms": { rows: 1, why: "A language is a site of its own, which the other's build does not know." },
};
