import { readFile } from "node:fs/promises";
import type { Site } from "@emend/site";
import { readTemplate } from "../lib/read-template.ts";
import type { AgentTask } from "./agent.ts";
import { conventionsOf, frameworkGuide } from "./framework-guides.ts";
import { readGuidance } from "./guidance.ts";
import { withoutFence } from "./openings.ts";

const foldersShownMax = 40;
const subjectsShownMax = 15;

/**
 * What a model is told first: our own words, the framework's guide and the site's shape, then the project's guidance,
 * fenced as content. All of it follows from the base, so every turn of a job begins with the same bytes.
 */
export async function systemPrompt(
  task: Pick<AgentTask, "base" | "docsDir" | "context" | "styleGuides" | "subjects">,
  site: Pick<Site, "framework" | "pages"> | null,
): Promise<string> {
  const ours = await readFile(new URL("./prompt.md", import.meta.url), "utf8");
  const place =
    task.docsDir === "" ? "" : `\nThe documentation is the folder ${task.docsDir}; change nothing outside it.\n`;
  // The base, not the overlay: an agent must not be able to write its own guidance.
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
