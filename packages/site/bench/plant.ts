import { checkSite, openSite } from "../src/index.ts";
import { type Files, memoryTree } from "../test/support/memory-tree.ts";

const eachKind = 5;

/** How authors of one framework write. What it does not have is null: no such fault can be planted. */
export interface Form {
  name: string;
  root: string;
  extension: string;
  /** A link to a page as this framework's authors write it, and one from the top of the site. */
  link(page: string): string;
  absolute: ((page: string) => string) | null;
  /** How a link names a place on a page; left out: with a hash. */
  anchor?: (link: string, id: string) => string;
  /** A link that climbs one folder too far. */
  tooHigh(page: string): string;
  picture: string;
  /** The folder that the picture lies in. */
  pictures: string;
  /** The files of the configuration, which list these pages. */
  config(pages: readonly string[]): Files;
  /** No file lists the pages, or none that is checked. */
  isUnlisted?: true;
}

const byFile = (page: string): string => `${page}.md`;
const atTop = (page: string): string => `/guides/${page}`;
const quoted = (pages: readonly string[], text: (page: string) => string): string => pages.map(text).join(",\n");

export const forms: readonly Form[] = [
  {
    name: "mkdocs",
    root: "docs/",
    extension: "md",
    link: byFile,
    absolute: (page) => `/guides/${page}/`,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../img/d.png",
    pictures: "docs/img",
    config: (pages) => ({
      "mkdocs.yml": `site_name: x\nsite_url: https://example.org/\nnav:\n${pages.map((page) => `  - guides/${page}.md`).join("\n")}\n`,
    }),
  },
  {
    name: "vitepress",
    root: "docs/",
    extension: "md",
    link: byFile,
    absolute: atTop,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../img/d.png",
    pictures: "docs/img",
    config: (pages) => ({
      "docs/.vitepress/config.ts": `export default { themeConfig: { sidebar: [{ text: "All", items: [\n${quoted(pages, (page) => `{ text: "x", link: "/guides/${page}" }`)}\n] }] } };\n`,
    }),
  },
  {
    name: "docusaurus",
    root: "docs/",
    extension: "md",
    link: byFile,
    absolute: (page) => `/docs/guides/${page}`,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../img/d.png",
    pictures: "docs/img",
    config: (pages) => ({
      "docusaurus.config.js": `export default { presets: [["classic", { docs: { path: "docs", sidebarPath: "./sidebars.js" } }]] };\n`,
      "sidebars.js": `module.exports = { docs: [\n${quoted(pages, (page) => `"guides/${page}"`)}\n] };\n`,
    }),
  },
  {
    name: "starlight",
    root: "src/content/docs/",
    extension: "md",
    link: (page) => `../${page}/`,
    absolute: (page) => `/guides/${page}/`,
    tooHigh: (page) => `../../${page}/`,
    picture: "../../img/d.png",
    pictures: "src/content/img",
    config: (pages) => ({
      "astro.config.mjs": `import starlight from "@astrojs/starlight";\nexport default { integrations: [starlight({ sidebar: [{ label: "All", items: [\n${quoted(pages, (page) => `{ slug: "guides/${page}" }`)}\n] }] })] };\n`,
    }),
  },
  {
    name: "nextra",
    root: "content/",
    extension: "mdx",
    link: (page) => `./${page}.mdx`,
    absolute: atTop,
    tooHigh: (page) => `../${page}`,
    picture: "/img/d.png",
    pictures: "public/img",
    config: (pages) => ({
      "next.config.mjs": "import nextra from 'nextra'\nexport default nextra({})({})\n",
      "content/guides/_meta.js": `export default {\n${quoted(pages, (page) => `'${page}': 'x'`)}\n}\n`,
    }),
  },
  {
    name: "mintlify",
    root: "",
    extension: "mdx",
    link: (page) => `./${page}`,
    absolute: atTop,
    tooHigh: (page) => `../${page}`,
    picture: "/img/d.png",
    pictures: "img",
    config: (pages) => ({
      "docs.json": `{ "navigation": { "groups": [{ "group": "All", "pages": [\n${quoted(pages, (page) => `"guides/${page}"`)}\n] }] } }\n`,
    }),
  },
  {
    name: "gitbook",
    root: "",
    extension: "md",
    link: byFile,
    absolute: atTop,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../.gitbook/d.png",
    pictures: ".gitbook",
    config: (pages) => ({
      "README.md": "# Home\n",
      "SUMMARY.md": `# Table of contents\n\n${pages.map((page) => `* [x](guides/${page}.md)`).join("\n")}\n`,
    }),
  },
  {
    name: "mdbook",
    root: "src/",
    extension: "md",
    link: byFile,
    absolute: null,
    tooHigh: (page) => `../${page}.md`,
    picture: "../img/d.png",
    pictures: "src/img",
    config: (pages) => ({
      "book.toml": '[book]\ntitle = "x"\n',
      "src/SUMMARY.md": `# Summary\n\n${pages.map((page) => `- [x](guides/${page}.md)`).join("\n")}\n`,
    }),
  },
  {
    name: "hugo",
    root: "content/",
    extension: "md",
    link: (page) => `../${page}/`,
    absolute: (page) => `/guides/${page}/`,
    tooHigh: (page) => `../../${page}/`,
    picture: "/img/d.png",
    pictures: "static/img",
    config: () => ({ "hugo.toml": 'baseURL = "https://example.org/"\n' }),
    isUnlisted: true,
  },
  {
    name: "jekyll",
    root: "",
    extension: "md",
    link: (page) => `${page}.html`,
    absolute: (page) => `/guides/${page}.html`,
    tooHigh: (page) => `../${page}.html`,
    picture: "/img/d.png",
    pictures: "img",
    config: () => ({ "_config.yml": "title: x\n" }),
    isUnlisted: true,
  },
  {
    name: "sphinx",
    root: "docs/",
    extension: "md",
    link: byFile,
    absolute: (page) => `/guides/${page}.md`,
    tooHigh: (page) => `../../guides/${page}.md`,
    picture: "../img/d.png",
    pictures: "docs/img",
    config: () => ({ "docs/conf.py": 'extensions = ["myst_parser"]\nmyst_heading_anchors = 3\n' }),
    isUnlisted: true,
  },
  {
    name: "docsify",
    root: "docs/",
    extension: "md",
    link: (page) => `guides/${page}.md`,
    absolute: (page) => `/guides/${page}`,
    anchor: (link, id) => `${link.replace(/\.md$/, "")}?id=${id}`,
    tooHigh: (page) => `../${page}.md`,
    picture: "/img/d.png",
    pictures: "docs/img",
    config: (pages) => ({
      "docs/index.html": "<script>window.$docsify = { loadSidebar: true }</script>\n",
      "docs/_sidebar.md": `${pages.map((page) => `- [x](guides/${page}.md)`).join("\n")}\n`,
    }),
  },
  {
    name: "fumadocs",
    root: "content/docs/",
    extension: "mdx",
    link: (page) => `./${page}.mdx`,
    absolute: (page) => `/docs/guides/${page}`,
    tooHigh: (page) => `../${page}.mdx`,
    picture: "/img/d.png",
    pictures: "public/img",
    config: (pages) => ({
      "source.config.ts":
        'import { defineDocs } from "fumadocs-mdx/config";\nexport const docs = defineDocs({ dir: "content/docs" });\n',
      "lib/source.ts": 'export const source = loader({ baseUrl: "/docs" });\n',
      "content/docs/guides/meta.json": `{ "pages": [\n${quoted(pages, (page) => `"${page}"`)}\n] }\n`,
    }),
    isUnlisted: true,
  },
  {
    name: "markdown",
    root: "",
    extension: "md",
    link: byFile,
    absolute: null,
    tooHigh: (page) => `../${page}.md`,
    picture: "../img/d.png",
    pictures: "img",
    config: () => ({}),
    isUnlisted: true,
  },
];

/** The kinds that are planted into a page, each as a paragraph. */
function kindsOf(form: Form): readonly { name: string; make(sound: string, n: number): string }[] {
  const { link, absolute, anchor = (to: string, id: string) => `${to}#${id}` } = form;
  const gone = link("gone");
  const kinds = [
    { name: "a link to a missing page", make: () => `[a](${gone})` },
    { name: "a missing anchor of another page", make: (sound: string) => `[a](${anchor(link(sound), "nowhere")})` },
    // Docsify reads ids in small letters, so that it is no fault there.
    ...(form.name === "docsify"
      ? []
      : [{ name: "an anchor in other case", make: (sound: string) => `[a](${anchor(link(sound), "Details")})` }]),
    { name: "a missing picture", make: () => `![a](${form.picture.replace("d.png", "gone.png")})` },
    { name: "an open code block", make: () => "```sh\nls" },
    { name: "a path in other case", make: (sound: string) => `[a](${link(sound.replace("page", "Page"))})` },
    { name: "a folder too high", make: (sound: string) => `[a](${form.tooHigh(sound)})` },
    {
      name: "a reference to a missing page",
      make: (_sound: string, n: number) => `[a][ref-${n}]\n\n[ref-${n}]: ${gone}`,
    },
  ];
  if (absolute !== null) kinds.push({ name: "a missing absolute link", make: () => `[a](${absolute("gone")})` });
  if (form.anchor === undefined) kinds.push({ name: "a missing anchor of its own page", make: () => "[a](#nowhere)" });
  return kinds;
}

function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

export interface Fault {
  kind: string;
  /** The planted page has no other fault. */
  path: string;
  /** What the fault names, where it is in a file of the configuration. */
  entry?: string;
}

/** A site without faults but for five of each kind, the same for the same number. */
export function plantFaults(form: Form, seed: number, pages = 80): { files: Files; faults: Fault[] } {
  const random = createRandom(seed);
  const names = Array.from({ length: pages }, (_, n) => `page-${n}`);
  const pathOf = (page: string): string => `${form.root}guides/${page}.${form.extension}`;
  const free = names
    .slice(1)
    .sort(() => random() - 0.5)
    .map(pathOf);
  const files: Files = { [`${form.pictures}/d.png`]: "png" };
  const { anchor = (to: string, id: string) => `${to}#${id}` } = form;
  const top = anchor((form.absolute ?? form.link)("page-0"), "details");
  const body = (own: string, front = "title: x"): string =>
    `---\n${front}\n---\n\nSee [next](${form.link("page-0")}), [top](${top}) and ![p](${form.picture}).\n\n## Details\n\n${own}\n`;
  for (const page of names) files[pathOf(page)] = body("Text.");
  const faults: Fault[] = [];
  for (const { name: kind, make } of kindsOf(form)) {
    for (let n = 0; n < eachKind; n++) {
      const path = free.pop() ?? "";
      files[path] = body(make(names[Math.floor(random() * pages)] ?? "page-0", n));
      faults.push({ kind, path });
    }
  }
  for (let n = 0; n < eachKind; n++) {
    const path = free.pop() ?? "";
    files[path] = body("Text.", "title: [open");
    faults.push({ kind: "front matter that cannot be read", path });
  }
  const lost = form.isUnlisted ? [] : Array.from({ length: eachKind }, (_, n) => `lost-${n}`);
  const config = form.config([...names, ...lost]);
  for (const entry of lost)
    faults.push({ kind: "a navigation entry without a page", path: Object.keys(config).at(-1) ?? "", entry });
  return { files: { ...files, ...config }, faults };
}

export interface Tally {
  planted: number;
  found: number;
  /** Findings that no planted fault explains. */
  others: number;
  missed: readonly string[];
}

/** What our own check finds of the faults planted into a site. */
export async function tallyOwn(form: Form, seed: number, pages?: number): Promise<Tally> {
  const { files, faults } = plantFaults(form, seed, pages);
  const findings = await checkSite(await openSite(memoryTree(files)));
  const left = new Set(faults);
  let others = 0;
  for (const { path, message, severity } of findings) {
    if (severity === "info") continue;
    const fault = [...left].find((one) => (one.entry === undefined ? one.path === path : message.includes(one.entry)));
    // Each planted page has one fault: a second finding there is as wrong as one elsewhere.
    if (fault === undefined) others++;
    else left.delete(fault);
  }
  const missed = [...new Set([...left].map(({ kind }) => kind))];
  return { planted: faults.length, found: faults.length - left.size, others, missed };
}
