import { readFile } from "node:fs/promises";
import type { Site } from "@emend/site";
import { readTemplate } from "../lib/read-template.ts";
import type { Tree } from "../tree/tree.ts";
import type { AgentTask } from "./agent.ts";
import { readGuidance } from "./guidance.ts";
import { withoutFence } from "./openings.ts";

const foldersShownMax = 40;
const subjectsShownMax = 15;

/**
 * The system prompt: our instructions, the framework's guide, the site's structure, then the project's guidance, fenced
 * as content. It depends only on the base, so every turn of a job starts with the same bytes.
 */
export async function systemPrompt(
  task: Pick<AgentTask, "base" | "docsDir" | "context" | "styleGuides" | "subjects">,
  site: Pick<Site, "framework" | "pages"> | null,
): Promise<string> {
  const ours = await readFile(new URL("./prompt.md", import.meta.url), "utf8");
  const place =
    task.docsDir === "" ? "" : `\nThe documentation is the folder ${task.docsDir}; change nothing outside it.\n`;
  // From the base, not the overlay: an agent must not write its own guidance.
  const guidance = await readGuidance(task.base, task);
  const guides = guidance.map(({ path, text }) => inFence(`The project's guidance, from ${path}:`, text));
  const shape = shapeOf(site) + (site ? await conventionsOf(task.base, site) : "");
  return ours + place + contextOf(task) + shape + guides.join("") + (await template(task)) + manner(task);
}

function manner({ subjects = [] }: Pick<AgentTask, "subjects">): string {
  if (subjects.length === 0) return "";
  const shown = subjects.slice(0, subjectsShownMax).map((subject) => subject.slice(0, 200));
  return inFence("Word the title as the newest commits of this repository are worded:", shown.join("\n"));
}

function contextOf({ context }: Pick<AgentTask, "context">): string {
  if (!context || context.names.length === 0) return "";
  const names = context.names.map((name) => `@${name}`).join(", ");
  return `\nContext repositories, to read and not to change: ${names}. \`list_files\`, \`search\` and \`read_file\` take paths such as @${context.names[0]}/README.md. Write about code only what you read there, and cite the lines in \`finish\`'s \`sources\`, as @${context.names[0]}/src/main.ts:12.\n`;
}

function shapeOf(site: Pick<Site, "framework" | "pages"> | null): string {
  if (!site) return "";
  const folders = new Map<string, number>();
  for (const { path } of site.pages) {
    const folder = path.split("/").slice(0, -1).join("/") || "(top)";
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const list = [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, count]) => `${folder} (${count})`);
  const more = list.length > foldersShownMax ? `, and ${list.length - foldersShownMax} more folders` : "";
  const guide = frameworkGuide(site.framework);
  return `\nThe site has ${site.pages.length} pages: ${withoutFence(list.slice(0, foldersShownMax).join(", "))}${more}.\n${guide === "" ? "" : `${guide}\n`}`;
}

async function template(task: Pick<AgentTask, "base">): Promise<string> {
  const found = await readTemplate(task.base);
  if (!found) return "";
  const words = `The repository's template for pull requests, from ${found.path}. Order the summary by its headings, and leave out what does not apply:`;
  return inFence(words, found.text);
}

export function inFence(words: string, text: string): string {
  return `\n${words}\n<content>\n${withoutFence(text)}\n</content>\n`;
}

/** What a writer must know about each docs framework, by @emend/site's name for it. */
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

function frameworkGuide(framework: string): string {
  return Object.hasOwn(guides, framework) ? (guides[framework] ?? "") : "";
}

const pagesRead = 60;
const callouts: readonly (readonly [string, RegExp])[] = [
  ["!!! note", /^(?:!!!|\?\?\?\+?) \w/gm],
  ["/// note", /^\/{3,} \w/gm],
  [":::note", /^:{3,} ?\w/gm],
  ["> [!NOTE]", /^> \[!\w+\]/gm],
  ["<Note>", /^\s*<(?:Note|Tip|Warning|Info|Check|Danger|Callout|Aside|Admonition)\b/gm],
];
const links: readonly (readonly [string, RegExp])[] = [
  ["from the top of the site, as /guides/auth", /\]\(\/[^)\s/][^)\s]*\)/g],
  ["by file, as ../guides/auth.md", /\]\((?![a-z]+:|\/|#)[^)\s]+\.mdx?(?:#[^)\s]*)?\)/g],
  ["relative and without ending, as ../guides/auth", /\]\((?![a-z]+:|\/|#)[^)\s.]*(?:\.\.?\/)*[^)\s.]+\)/g],
];

/** Conventions of the existing pages, from a sample of them. */
async function conventionsOf(base: Pick<Tree, "read">, site: Pick<Site, "pages">): Promise<string> {
  const step = Math.max(1, Math.ceil(site.pages.length / pagesRead));
  const sample = site.pages.filter((_, index) => index % step === 0);
  const texts = await Promise.all(
    sample.map(async ({ path }) => (await base.read(path).catch(() => null))?.toString() ?? ""),
  );
  const most = (forms: typeof callouts) => {
    const counted = forms.map(
      ([name, form]) => [name, texts.reduce((sum, text) => sum + (text.match(form)?.length ?? 0), 0)] as const,
    );
    const total = counted.reduce((sum, [, count]) => sum + count, 0);
    const [first] = counted.toSorted(([, a], [, b]) => b - a);
    return first && first[1] >= 3 && first[1] > total * 0.6 ? first[0] : null;
  };
  const [callout, link] = [most(callouts), most(links)];
  const said = [
    ...(callout === null ? [] : [`callouts are written as ${callout}`]),
    ...(link === null ? [] : [`links are written ${link}`]),
  ];
  return said.length === 0 ? "" : `In the pages of this repository ${said.join(", and ")}: do the same.\n`;
}
