/** What a writer must know of each docs framework, in a few lines. By the name that @emend/site gives it. */
const guides: Readonly<Record<string, string>> = {
  mintlify:
    "Mintlify: pages are MDX with `title` and `description` in their front matter; the title is the page's only first-level heading. Links begin with a slash and have no extension. Navigation and redirects are in docs.json (or mint.json); entries are paths without extension. Components such as <Note>, <Tip>, <Warning>, <Steps>, <Tabs>, <CodeGroup>, <Card> need no import.",
  docusaurus:
    "Docusaurus: pages are Markdown or MDX below docs/, with `title`, `sidebar_label` and `sidebar_position` in their front matter. Link to other pages by their relative file path with extension. Navigation is sidebars.js or the folders with _category_.json. Admonitions are :::note, :::tip, :::warning and end with :::.",
  mkdocs:
    "MkDocs: pages are Markdown below docs/. Link by relative file path with extension. Navigation is `nav` in mkdocs.yml, with paths relative to docs/. Admonitions are !!! note with an indented body.",
  starlight:
    "Starlight: pages are Markdown or MDX below src/content/docs, with a required `title` in their front matter. Links begin with a slash and have no extension. Navigation is `sidebar` in astro.config.mjs, by slug. Asides are :::note, :::tip, :::caution, :::danger.",
  nextra:
    "Nextra: pages are MDX; navigation and titles are in _meta files beside them. Links begin with a slash and have no extension. <Callout>, <Tabs>, <Steps> are imported from nextra/components.",
  vitepress:
    "VitePress: pages are Markdown. Links have no extension or .md. Navigation is `themeConfig.sidebar` in .vitepress/config. Containers are ::: tip, ::: warning, ::: danger and end with :::.",
};

export function frameworkGuide(framework: string): string {
  return Object.hasOwn(guides, framework) ? (guides[framework] ?? "") : "";
}
