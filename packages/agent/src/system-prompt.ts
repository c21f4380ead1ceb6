import { readFile } from "node:fs/promises";
import { inContent, withoutMark } from "@emend/base/in-content.ts";
import { readTemplate } from "@emend/base/read-template.ts";
import { type Finding, matchesGlob, type Site } from "@emend/site";
import type { Tree } from "@emend/tree";
import type { AgentTask, Message } from "./agent.ts";
import { describeFinding } from "./tools/check.ts";

const foldersShownMax = 40;
const subjectsShownMax = 15;

const noQuestions = "Nobody answers questions: decide, or finish and say what is missing.";
const questions = "Decide what you can. Where only a person knows, and it changes the result, `ask`.";

/**
 * The system prompt: our instructions, the framework's guide, the site's structure, then the project's guidance, fenced
 * as content. It depends only on the base, so every turn of a job starts with the same bytes.
 */
export async function systemPrompt(
  task: Pick<AgentTask, "base" | "docsDir" | "context" | "styleGuides" | "subjects">,
  site: Pick<Site, "framework" | "pages"> | null,
  { mayAsk = false } = {},
): Promise<string> {
  const template = await readFile(new URL("./prompt.md", import.meta.url), "utf8");
  const ours = template.replace("{{questions}}", mayAsk ? questions : noQuestions);
  const place =
    task.docsDir === "" ? "" : `\nThe documentation is the folder ${task.docsDir}; change nothing outside it.\n`;
  // From the base, not the overlay: an agent must not write its own guidance.
  const guidance = await readGuidance(task.base, task);
  const guides = guidance.map(({ path, text }) => inFence(`The project's guidance, from ${path}:`, text));
  const shape = shapeOf(site) + (site ? await conventionsOf(task.base, site) : "");
  return ours + place + contextOf(task) + shape + guides.join("") + (await pullTemplate(task)) + manner(task);
}

function manner({ subjects = [] }: Pick<AgentTask, "subjects">): string {
  if (subjects.length === 0) return "";
  const shown = subjects.slice(0, subjectsShownMax).map((subject) => subject.slice(0, 200));
  return inFence("Word the title as the newest commits of this repository are worded:", shown.join("\n"));
}

function contextOf({ context }: Pick<AgentTask, "context">): string {
  if (!context || context.names.length === 0) return "";
  const names = context.names.map((name) => `@${name}`).join(", ");
  return `\nContext repositories, to read and not to change: ${names}. \`list_files\`, \`search\` and \`read_file\` take paths such as @${context.names[0]}/README.md. Write about code only what you read there, and cite the lines in \`finish\`'s \`sources\`, each with the sentence that they prove, as @${context.names[0]}/src/main.ts:12: The port is 3000.\n`;
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
  return `\nThe site has ${site.pages.length} pages: ${withoutMark(list.slice(0, foldersShownMax).join(", "))}${more}.\n${guide === "" ? "" : `${guide}\n`}`;
}

async function pullTemplate(task: Pick<AgentTask, "base">): Promise<string> {
  const found = await readTemplate(task.base);
  if (!found) return "";
  const words = `The repository's template for pull requests, from ${found.path}. Order the summary by its headings, and leave out what does not apply:`;
  return inFence(words, found.text);
}

export function inFence(words: string, text: string): string {
  return `\n${inContent(words, text)}\n`;
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
  [":::note", /^:{3,}\w/gm],
  ["::: info", /^:{3,} \w/gm],
  ["> [!NOTE]", /^> \[!\w+\]/gm],
  ["<Note>", /^\s*<(?:Note|Tip|Warning|Info|Check|Danger|Callout|Aside|Admonition)\b/gm],
];
const links: readonly (readonly [string, RegExp])[] = [
  ["from the top of the site, as /guides/auth", /\]\(\/[^)\s/][^)\s]*\)/g],
  ["by file, as ../guides/auth.md", /\]\((?![a-z]+:|\/|#)[^)\s]+\.mdx?(?:#[^)\s]*)?\)/g],
  ["relative and without ending, as ../guides/auth", /\]\((?![a-z]+:|\/|#)[^)\s.]*(?:\.\.?\/)*[^)\s.]+\)/g],
];

/** Conventions of the existing pages, from a sample of them. */
async function conventionsOf(base: Pick<Tree, "read">, site: Pick<Site, "framework" | "pages">): Promise<string> {
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
  // MkDocs has no such callouts: there `::: module` includes the documentation of code.
  const known = site.framework === "mkdocs" ? callouts.filter(([name]) => !name.startsWith(":::")) : callouts;
  const [callout, link] = [most(known), most(links)];
  const said = [
    ...(callout === null ? [] : [`callouts are written as ${callout}`]),
    ...(link === null ? [] : [`links are written ${link}`]),
  ];
  return said.length === 0 ? "" : `In the pages of this repository ${said.join(", and ")}: do the same.\n`;
}

/**
 * Where repositories keep instructions for agents. Tools use different file names for the same text, so each text
 * counts once.
 */
const places = [
  "AGENTS.md",
  "CLAUDE.md",
  ".claude/CLAUDE.md",
  ".mintlify/AGENTS.md",
  ".github/copilot-instructions.md",
  ".cursorrules",
  ".cursor/rules/*",
  ".cursor/rules/**/*.mdc",
  ".emend/instructions.md",
];
/** These are part of every turn: of a long file, only the beginning is included, with a pointer to the rest. */
const charactersMax = 4_000;
/** Editor rules are many files, of which an editor picks some. */
const editorRuleCharactersMax = 800;
/** Files that the project's settings name are included up to this size. */
const styleGuideCharactersMax = 16_000;
const filesMax = 12;
const fileBytesMax = 64_000;

interface Guidance {
  path: string;
  text: string;
}

/**
 * The repository's instructions for writing docs, the most general first: at its root, in the folders down to the docs,
 * then the files that the project's settings name.
 */
export async function readGuidance(
  base: Tree,
  { docsDir, styleGuides = [] }: { docsDir: string; styleGuides?: readonly string[] },
): Promise<readonly Guidance[]> {
  const paths = (await base.list()).map(({ path }) => path);
  const folders =
    docsDir === "" ? [] : docsDir.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
  const wanted = ["", ...folders].flatMap((folder) =>
    places.map((place) => (folder === "" ? place : `${folder}/${place}`)),
  );
  const found = wanted.flatMap((pattern) =>
    pattern.includes("*")
      ? paths.filter((path) => matchesGlob(pattern, path))
      : paths.includes(pattern)
        ? [pattern]
        : [],
  );
  const guidance: Guidance[] = [];
  const known = new Set<string>();
  const skills = await skillsForDocs(base, paths);
  for (const path of new Set([...styleGuides, ...found.slice(0, filesMax), ...skills])) {
    const text = await readGuide(base, path);
    // CLAUDE.md is often the same text.
    if (text === "" || known.has(text)) continue;
    known.add(text);
    const editorRule = path.includes(".cursor") || skills.includes(path) ? editorRuleCharactersMax : charactersMax;
    guidance.push({
      path,
      text: beginning(text, path, styleGuides.includes(path) ? styleGuideCharactersMax : editorRule),
    });
  }
  return guidance;
}

const skillPlace = /^\.(?:claude|agents)\/skills\/[^/]+\/SKILL\.md$/;
const skillsReadMax = 30;
const skillsShownMax = 4;
/** A skill says in its front matter what it is for. */
const concernsDocs =
  /^(?:name|description):.*\b(?:docs?|documentation|readme|changelogs?|release notes|tutorials?|style guide|markdown|mdx|technical writing)\b/im;

/** Skills of coding agents that concern docs. */
async function skillsForDocs(base: Tree, paths: readonly string[]): Promise<readonly string[]> {
  const shown: string[] = [];
  for (const path of paths.filter((one) => skillPlace.test(one)).slice(0, skillsReadMax)) {
    const [, frontMatter = ""] = /^---\n(.*?)\n---\n/s.exec(await readGuide(base, path)) ?? [];
    if (concernsDocs.test(frontMatter)) shown.push(path);
  }
  return shown.slice(0, skillsShownMax);
}

function beginning(text: string, path: string, max: number): string {
  if (text.length <= max) return text;
  const cut = text.lastIndexOf("\n", max);
  const shown = text.slice(0, cut > max / 2 ? cut : max).toWellFormed();
  return `${shown}\n… ${text.length - shown.length} more characters: read_file ${path}`;
}

/** The guidance of a subfolder, for an edit of a file there. Null if it has none of its own. */
export async function guidanceNear(base: Tree, path: string, docsDir: string): Promise<Guidance | null> {
  const parts = path.split("/").slice(0, -1);
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const folder = parts.slice(0, depth).join("/");
    // Already part of the system prompt.
    if (docsDir === folder || docsDir.startsWith(`${folder}/`)) return null;
    for (const name of ["AGENTS.md", "CLAUDE.md"]) {
      const text = await readGuide(base, `${folder}/${name}`);
      if (text !== "") return { path: `${folder}/${name}`, text };
    }
  }
  return null;
}

async function readGuide(base: Tree, path: string): Promise<string> {
  const bytes = await base.read(path).catch(() => null);
  return bytes === null ? "" : bytes.subarray(0, fileBytesMax).toString().trim();
}

const findingsMax = 60;

/** A review's findings, as a message to the agent. */
const advice = [
  [
    "lost-content",
    "Restore what a page loses. Only if the request wants it gone: name in the summary what goes, with the figures of the finding.",
  ],
  [
    "untrue-summary",
    "Leave the name of a page that you did not touch out of the summary, or cite the page as a source.",
  ],
] as const;

export function reviewOpening(findings: readonly Finding[]): Message {
  const list = findings.slice(0, findingsMax).map((finding) => `- ${describeFinding(finding)}`);
  const more = findings.length > findingsMax ? [`- and ${findings.length - findingsMax} more`] : [];
  return {
    role: "user",
    from: "review",
    text: [
      "Not handed over yet: the review found this. Repair it and finish again. A finding that you know to be wrong: leave",
      "right work as it is, and give `disputes`: path:line and the reason; a person decides.",
      ...list,
      ...more,
      ...advice.flatMap(([check, words]) => (findings.some((one) => one.check === check) ? [words] : [])),
    ].join("\n"),
  };
}
