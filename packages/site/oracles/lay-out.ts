import { blocks, headingsFor, type LinkCase, links, pages } from "./cases.ts";
import { noBlock, type OracleSite, type PlacedLink, picture } from "./oracle-site.ts";

export interface Layout {
  /** The framework, and the variant of the site. */
  name: string;
  /** The folder of the pages. Default: the root. */
  root?: string;
  /** Default: `md`. */
  extension?: "mdx";
  /** The folder whose files are served from the root, if it is not the folder of the pages. */
  publicDir?: string;
  /** A page's title is only in its front matter. */
  isTitledByFront?: true;
  /** The prefix of absolute links, if pages are not served from the root. */
  prefix?: string;
  config: Readonly<Record<string, string>>;
  /** Links besides the common ones. */
  links?: readonly LinkCase[];
  /** The file of a page, if it differs from the page's name. */
  fileName?(page: string): string;
  /** The front matter of every page. Null if pages have none. */
  front?: string | null;
  /** Files that depend on the list of pages. */
  files?(paths: readonly string[]): Record<string, string>;
}

/** A link's target in a layout: with its page extension, and its prefix for absolute routes. */
function placeTarget(target: string, { extension, prefix = "" }: Layout): string {
  const isOwn = target.startsWith(`${prefix}/`) && prefix !== "";
  const absolute = target.startsWith("/") && !target.startsWith("//") && !isOwn && !target.endsWith(".txt");
  const placed = absolute ? `${prefix}${target}` : target;
  return extension === undefined ? placed : placed.replace(/\.md(?=$|[?#>])/, `.${extension}`);
}

/** Writes the common cases as one site of a framework. */
export function layOut(layout: Layout): OracleSite {
  const { name, root = "", extension = "md", publicDir = root } = layout;
  const framework = name.replace(/-.*$/, "");
  const inRoot = (path: string): string => (root === "" ? path : `${root}/${path}`);
  const pathOf = (page: string): string => inRoot(`${layout.fileName?.(page) ?? page}.${extension}`);
  const files: Record<string, string> = { ...layout.config };
  const marks = new Map<string, string>();
  const placed = [...links, ...(layout.links ?? [])].map(
    ({ from, target }, at): PlacedLink => ({
      from,
      target: placeTarget(target, layout).replace(/^<|>$/g, ""),
      path: pathOf(from),
      mark: `case-${at}-`,
    }),
  );
  const write = (page: string, body: string, isTitled = false): void => {
    const mark = `mark-${marks.size}-`;
    const title = `Page ${marks.size}`;
    marks.set(pathOf(page), mark);
    const front = layout.front === null ? "" : `---\ntitle: ${title}\n${layout.front ?? ""}---\n\n`;
    files[pathOf(page)] = `${front}${isTitled ? `# ${title}\n\n` : ""}${mark}\n\n${body}\n`;
  };
  for (const page of pages) {
    const own = placed
      .filter(({ from }) => from === page)
      .map(({ target, mark }) => `- [${mark}](${target.includes(" ") ? `<${target}>` : target})`);
    write(page, `## Scopes\n\nText.\n\n## Here\n\nText.\n\n${own.join("\n")}`, layout.isTitledByFront !== true);
  }
  const used = headingsFor(framework);
  write("headings", used.map((source) => `#### ${source}\n\nText.`).join("\n\n"));
  const own = blocks.filter(({ only }) => only === undefined || only.includes(framework));
  for (const { name: block, source } of [{ name: noBlock, source: "Text." }, ...own]) write(`blocks/${block}`, source);
  files[publicDir === "" ? "notes.txt" : `${publicDir}/notes.txt`] = "Notes.\n";
  // Nextra compiles every file in its pages folder as code.
  if (framework !== "nextra") files[inRoot("guide/notes.txt")] = "Notes.\n";
  files[publicDir === "" ? "d.png" : `${publicDir}/d.png`] = picture;
  Object.assign(files, layout.files?.([...marks.keys()]));
  return {
    name,
    framework,
    publicDir,
    files,
    marks,
    links: placed,
    headingsPath: pathOf("headings"),
    headings: used,
    blocks: new Map([noBlock, ...own.map((block) => block.name)].map((block) => [block, pathOf(`blocks/${block}`)])),
  };
}
