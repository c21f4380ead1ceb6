// Tasks on real documentation at a pinned commit, fetched when the eval runs and never committed. Right answers are
// derived from the original files; none is hard-coded.
import { git, type Product, runProduct } from "./product.ts";
import { cloneOf, sites } from "./real-sites.ts";
import type { EvalRow } from "./table.ts";
import type { Kind } from "./task.ts";

export interface RealTask {
  name: string;
  kind: Kind;
  site: keyof typeof sites;
  prompt: string;
  rulesMustPass: boolean;
  verify(change: Change): readonly string[];
  /** Right changes, derived from the original files. A path without text is deleted. */
  right(site: RealSite): Promise<readonly RealAnswer[]>;
}

/** The documentation as it is, to make answers from. */
export interface RealSite {
  /** Every page's text by its path. */
  pages: ReadonlyMap<string, string>;
  /** The edits of moving a page, made by the site's own refactoring. */
  move(from: string, to: string): Promise<Edits>;
}

export type Edits = ReadonlyMap<string, string | null>;

export interface RealAnswer {
  edits: Edits;
  title: string;
  summary: string;
}

/** A job's changes in a large repository: only the files that differ. */
export interface Change {
  /** Null if the file does not exist. */
  files: ReadonlyMap<string, { before: string | null; after: string | null }>;
  /** Lines of the resulting docs that contain this text, as `path:line:text`. */
  holding(text: string): readonly string[];
  title: string;
  summary: string;
}

const absence = /\b(no|not|nowhere|nothing|cannot)\b|n't\b/i;
const translations = /^(es|fr|zh)\/|^docs\/(?!en\/)/;

export const realTasks: readonly RealTask[] = [
  {
    name: "mintlify docs: a product term in prose",
    kind: "rename",
    site: "mintlify",
    prompt: 'Replace "web editor" with "visual editor" in the English pages. Leave the changelog as it is.',
    rulesMustPass: false,
    verify: (change) => [
      ...onlyReplaces(change, "web editor", "visual editor"),
      ...untouched(change, /^changelog|^(es|fr|zh)\//),
      ...tells(change, /visual editor/i),
      ...(change.files.size < 20 ? [`it changed ${change.files.size} files of more than 20`] : []),
    ],
    right: async ({ pages }) => {
      const edits = new Map<string, string>();
      for (const [path, text] of pages) {
        if (translations.test(path) || /^(changelog|\.)/.test(path)) continue;
        const now = inProse(text, (prose) => prose.replaceAll(/\b(w)eb( e)ditor/gi, keepingCase));
        if (now !== text) edits.set(path, now);
      }
      return [
        { edits, title: "Say visual editor", summary: "The English pages say visual editor; code is as it was." },
        { edits, title: "docs: visual editor", summary: "Replaced the term web editor by visual editor in prose." },
      ];
    },
  },
  {
    name: "mintlify docs: a page with inbound links moves",
    kind: "restructure",
    site: "mintlify",
    prompt: "Move create/reusable-snippets to create/snippets.",
    rulesMustPass: true,
    verify: (change) =>
      movedPage(change, {
        from: "create/reusable-snippets",
        to: "create/snippets",
        ending: ".mdx",
        config: ["docs.json", "redirects.json"],
      }),
    right: ({ move }) => moved(move, "create/reusable-snippets", "create/snippets"),
  },
  {
    name: "mintlify docs: a header in one page's curl samples",
    kind: "update an option",
    site: "mintlify",
    prompt:
      "In api/agent/v2/create-agent-job, add the header `X-Request-Source: docs` to every curl sample, as a `--header` line of its own. Change nothing else.",
    rulesMustPass: false,
    verify: (change) => [
      ...untouched(change, /^(?!api\/agent\/v2\/create-agent-job\.mdx$)/),
      ...everyCurlHas(change.files.get("api/agent/v2/create-agent-job.mdx"), "X-Request-Source: docs"),
      ...tells(change, /header|X-Request-Source/i),
    ],
    right: async ({ pages }) => {
      const path = "api/agent/v2/create-agent-job.mdx";
      const withLine = (line: string) =>
        new Map([[path, (pages.get(path) ?? "").replaceAll(/^(\s*)curl .*\\$/gm, (curl) => `${curl}\n${line} \\`)]]);
      return [
        {
          edits: withLine("  --header 'X-Request-Source: docs'"),
          title: "Send X-Request-Source in the samples",
          summary: "Each curl sample of the page has the header on a line of its own.",
        },
        {
          edits: withLine('  --header "X-Request-Source: docs"'),
          title: "docs: name the source of requests",
          summary: "Added the header to the curl samples; nothing else is changed.",
        },
      ];
    },
  },
  {
    name: "mintlify docs: a question that nothing answers",
    kind: "change nothing",
    site: "mintlify",
    prompt:
      "Add to deploy/github the largest repository, in gigabytes, that the GitHub app can sync. Take it from these docs; do not guess.",
    rulesMustPass: false,
    verify: (change) => [...untouched(change, /^/), ...tells(change, absence, /size|large|gigabyte|limit/i)],
    right: async () => [
      {
        edits: new Map(),
        title: "The size limit is not known",
        summary: "These docs do not say how large a repository may be, so I added nothing.",
      },
      {
        edits: new Map(),
        title: "",
        summary: "No page names a limit for the GitHub app. Tell me where it is written.",
      },
    ],
  },
  {
    name: "fastapi: a page to another depth",
    kind: "restructure",
    site: "fastapi",
    prompt: "Move docs/en/docs/tutorial/security/first-steps.md to docs/en/docs/how-to/first-steps.md.",
    rulesMustPass: false,
    verify: (change) =>
      movedPage(change, {
        from: "docs/en/docs/tutorial/security/first-steps",
        to: "docs/en/docs/how-to/first-steps",
        ending: ".md",
        config: ["docs/en/mkdocs.yml"],
      }),
    right: ({ move }) =>
      moved(move, "docs/en/docs/tutorial/security/first-steps.md", "docs/en/docs/how-to/first-steps.md"),
  },
  {
    name: "fastapi: a term that is not used",
    kind: "change nothing",
    site: "fastapi",
    prompt: 'Replace "warehouse lake" with "data mesh".',
    rulesMustPass: true,
    verify: (change) => [...untouched(change, /^/), ...tells(change, /warehouse lake/i, absence)],
    right: async () => [
      { edits: new Map(), title: "", summary: 'No page says "warehouse lake", so nothing was changed.' },
      {
        edits: new Map(),
        title: "The term is not used",
        summary: "Warehouse lake does not occur in these docs; I left them as they are.",
      },
    ],
  },
];

async function moved(move: RealSite["move"], from: string, to: string): Promise<readonly RealAnswer[]> {
  const edits = await move(from, to);
  return [
    { edits, title: `Move ${from} to ${to}`, summary: "Links, navigation and a redirect follow the page." },
    { edits, title: "docs: move a page", summary: `The page is at ${to} now; what linked to it leads there.` },
  ];
}

/** Text outside of code, link targets and URLs. */
function inProse(text: string, change: (prose: string) => string): string {
  const code = /(^ *```[\s\S]*?^ *```|`[^`\n]*`|\]\([^)\n]*\)|(?:href|src)="[^"]*"|https?:\S+)/m;
  return text
    .split(code)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("");
}

const keepingCase = (_: string, first: string, second: string) => `${first === "W" ? "V" : "v"}isual${second}ditor`;

/** Every change is this replacement, none is in a code sample, and the prose has nothing left to replace. */
function onlyReplaces({ files, holding }: Change, from: string, to: string): readonly string[] {
  const problems: string[] = [];
  const neutral = (text: string) => text.replaceAll(new RegExp(`${from}|${to}`, "gi"), "§");
  const fences = (text: string) => (text.match(/^ *```[\s\S]*?^ *```/gm) ?? []).join("\n");
  for (const [path, { before, after }] of files) {
    if (before === null || after === null) problems.push(`${path} came or went`);
    else if (neutral(before) !== neutral(after)) problems.push(`${path} changed in another way`);
    else if (fences(before) !== fences(after)) problems.push(`${path} changed in its code`);
  }
  const left = holding(from).filter(
    (line) => !translations.test(line) && !/^(changelog|\.)|`|href=|src=|\]\(|https?:/.test(line),
  );
  if (left.length > 0) problems.push(`${left.length} more, such as ${left[0]?.slice(0, 100)}`);
  return problems;
}

/** Each sample gains one line, and none loses one. */
function everyCurlHas(
  file: { before: string | null; after: string | null } | undefined,
  header: string,
): readonly string[] {
  if (!file?.before || !file.after) return ["the page is as it was"];
  const plain = (text: string) => text.split("\n").map((line) => line.replace(/ \\$/, "").trim());
  const samples = file.before.match(/^\s*curl /gm)?.length ?? 0;
  const headers = plain(file.after).filter((line) => line.includes(header)).length;
  const kept = plain(file.after).filter((line) => !line.includes(header));
  const isKept = kept.join("\n") === plain(file.before).join("\n");
  return [
    ...(samples === headers ? [] : [`${headers} of ${samples} samples have the header`]),
    ...(isKept ? [] : ["the page changed in another way"]),
  ];
}

/** The file moved, its text is unchanged except for links, the old URL redirects, and nothing links to it. */
function movedPage(
  change: Change,
  move: { from: string; to: string; ending: string; config: readonly string[] },
): readonly string[] {
  const problems: string[] = [];
  const [old, now] = [`${move.from}${move.ending}`, `${move.to}${move.ending}`];
  const before = change.files.get(old);
  const after = change.files.get(now);
  if (before?.after !== null || after?.after == null) return [`${old} is not at ${now}`];
  const withoutLinks = (text: string) => text.replace(/\]\([^)]*\)|(href|src)="[^"]*"|(include|hl_lines)[^\n]*/g, "");
  if (withoutLinks(before.before ?? "") !== withoutLinks(after.after)) problems.push(`${now} changed beyond its links`);
  for (const [path, file] of change.files) {
    if (path === old || path === now || move.config.includes(path)) continue;
    if (file.before === null || file.after === null) problems.push(`${path} came or went`);
    else if (withoutLinks(file.before) !== withoutLinks(file.after)) problems.push(`${path} changed beyond its links`);
  }
  const place = move.to.replace(/^docs\/en\/docs\//, "");
  for (const path of move.config) {
    if (!change.files.get(path)?.after?.includes(place)) problems.push(`${path} does not name the new place`);
  }
  const address = move.from.replace(/^docs\/en\/docs\//, "");
  const left = change
    .holding(`${address.split("/").slice(-2).join("/")}${move.ending === ".md" ? ".md" : ""})`)
    .filter((line) => !translations.test(line));
  if (left.length > 0) problems.push(`still linked: ${left[0]?.slice(0, 100)}`);
  return [...problems, ...tells(change, new RegExp(move.to.split("/").at(-1) ?? ""))];
}

function untouched({ files }: Change, paths: RegExp): readonly string[] {
  return [...files.keys()].filter((path) => paths.test(path)).map((path) => `it changed ${path}`);
}

function tells({ title, summary }: Change, ...words: readonly RegExp[]): readonly string[] {
  const said = `${title}\n${summary}`;
  return words.filter((word) => !word.test(said)).map((word) => `title and summary do not say ${word.source}`);
}

/** Runs the tasks on the real sites. `from`: a folder with your own clones, as `owner+name`, used as they are. */
export async function evaluateReal(
  product: Product,
  model: string,
  options: { cacheDir: string; only: string; from: string | undefined; onResult(row: EvalRow): void },
  signal: AbortSignal,
): Promise<readonly EvalRow[]> {
  const rows: EvalRow[] = [];
  for (const task of realTasks.filter(({ kind, name }) => `${kind}, ${name}`.includes(options.only))) {
    const docs = await cloneOf(sites[task.site], options);
    const { gitDir, branch, figures, title, summary } = await runProduct(product, model, { ...task, docs }, signal);
    const change = await changeOf(gitDir, branch, { title, summary });
    const row = { task, figures, problems: task.verify(change) };
    options.onResult(row);
    rows.push(row);
  }
  return rows;
}

async function changeOf(
  gitDir: string,
  branch: string | null,
  words: { title: string; summary: string },
): Promise<Change> {
  if (branch === null) return { files: new Map(), holding: () => [], ...words };
  const listed = await git(gitDir, "diff", "--name-only", "--no-renames", "-z", `main...${branch}`);
  const files = new Map<string, { before: string | null; after: string | null }>();
  for (const path of listed.split("\0").filter((one) => one !== "")) {
    const read = (ref: string) => git(gitDir, "cat-file", "blob", `${ref}:${path}`).catch(() => null);
    files.set(path, { before: await read("main"), after: await read(branch) });
  }
  const pages = await git(gitDir, "grep", "-nI", "", branch, "--", "*.md", "*.mdx");
  const lines = pages.split("\n").map((line) => line.slice(branch.length + 1));
  return { files, holding: (text) => lines.filter((line) => line.includes(text)), ...words };
}
