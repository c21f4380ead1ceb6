import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A site of any size, the same for the same number: sections of pages that link to each other in every manner. */
interface GeneratedFile {
  path: string;
  content: string;
}

/** Routes and navigation, or files that link by relative path, which every link checker understands. */
type SiteStyle = "mintlify" | "markdown";

const words =
  "access account agent answer backup branch build cache change check client cluster command commit config context deploy draft edit engine error event export fetch field file filter flow group handler import index input install job key label layer link list log match merge method model module node option order output page parser path plan policy pool project prompt proxy query queue range record release report request reset result retry review role route rule schema scope script search secret server service session setting shard signal site source stage state step store stream table tag task team template test thread token tool trace tree update user value version view worker".split(
    " ",
  );

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const perSection = 50;

function pagePath(page: number): string {
  return `section-${Math.floor(page / perSection)}/page-${page}`;
}

function sentence(random: () => number, length: number): string {
  const picked = Array.from({ length }, () => words[Math.floor(random() * words.length)] as string);
  const text = picked.join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function pageContent(page: number, pages: number, random: () => number, style: SiteStyle): string {
  const other = (): number => Math.floor(random() * pages);
  const near = (): number =>
    Math.floor(page / perSection) * perSection +
    Math.floor(random() * Math.min(perSection, pages % perSection || perSection));
  const to = (goal: number): string => (style === "mintlify" ? `/${pagePath(goal)}` : `../${pagePath(goal)}.md`);
  const out = [
    "---",
    `title: Page ${page}`,
    `description: ${sentence(random, 8)}`,
    "---",
    "",
    sentence(random, 30),
    "",
  ];
  for (let section = 0; section < 5; section++) {
    const [a, b, c] = [other(), near(), other()];
    out.push(`## Section ${section} of ${words[(page + section) % words.length]}`, "");
    out.push(`${sentence(random, 25)} See [page ${a}](${to(a)}) and [its notes](${to(a)}#notes).`, "");
    out.push(
      `${sentence(random, 35)} Next: [neighbour](./page-${b}${style === "mintlify" ? ".mdx" : ".md"}), ${sentence(random, 20)}`,
      "",
    );
    out.push(`- ${sentence(random, 10)}`, `- [A link](${to(c)}) and \`code ${section}\``, "");
  }
  const more = page % 5 === 0 ? 0 : near();
  if (style === "mintlify")
    out.push(`<Card title="More" href="${to(more)}">`, `  ${sentence(random, 12)}`, "</Card>", "");
  else out.push(`More: [another page](${to(more)}#notes)`, "");
  out.push(
    "```ts",
    "const answer: number = 42; // [not](a-link)",
    "export function run(): number {",
    "  return answer;",
    "}",
    "```",
    "",
  );
  out.push(
    "## Notes",
    "",
    `![Diagram](${style === "mintlify" ? "" : ".."}/images/diagram.png)`,
    "",
    sentence(random, 60),
    "",
  );
  return out.join("\n");
}

/** Every fifth page links to the first one. */
export function* generateSite(pages: number, style: SiteStyle = "mintlify"): Generator<GeneratedFile> {
  const random = createRandom(42);
  const groups: { group: string; pages: string[] }[] = [];
  for (let page = 0; page < pages; page++) {
    const section = Math.floor(page / perSection);
    const group = groups[section] ?? { group: `Section ${section}`, pages: [] };
    groups[section] = group;
    group.pages.push(pagePath(page));
    const extension = style === "mintlify" ? "mdx" : "md";
    yield { path: `${pagePath(page)}.${extension}`, content: pageContent(page, pages, random, style) };
  }
  yield { path: "images/diagram.png", content: "not really a picture" };
  if (style === "markdown") return;
  yield { path: "docs.json", content: `${JSON.stringify({ name: "Generated", navigation: { groups } }, null, 2)}\n` };
}

/** Writes a generated site into a folder; answers how many files. */
export async function writeSite(folder: string, pages: number, style: SiteStyle): Promise<number> {
  let files = 0;
  for (const { path, content } of generateSite(pages, style)) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
    files++;
  }
  return files;
}
