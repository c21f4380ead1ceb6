import { posix } from "node:path";

/** How a framework lays out a site, as far as random sites use it. Written from what its builder does, not from our code. */
export interface Layout {
  framework: string;
  extension: string;
  /** Folder of the pages, with a slash at its end where there is one. */
  root: string;
  route(path: string): string;
  /** file: `../a/b.md`; route: `/a/b`; near: relative to the page's own address. */
  forms: readonly ("file" | "route" | "near")[];
  /** Files besides the pages, for pages in the order given. */
  config(pages: readonly string[]): Record<string, string>;
  /** Routes that navigation and redirects name. */
  entries(files: ReadonlyMap<string, string>): string[];
}

const inside = (root: string, path: string): string => path.slice(root.length).replace(/\.mdx?$/, "");

function quotedAfter(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map((match) => match[1] as string);
}

export const layouts: readonly Layout[] = [
  {
    framework: "mintlify",
    extension: ".mdx",
    root: "",
    route: (path) => `/${inside("", path)}`,
    forms: ["route", "near"],
    config: (pages) => ({
      "docs.json": `${JSON.stringify({ navigation: { groups: [{ group: "All", pages: pages.map((page) => inside("", page)) }] } }, null, 2)}\n`,
    }),
    entries(files) {
      const config = JSON.parse(files.get("docs.json") ?? "{}");
      const listed = config.navigation.groups.flatMap(({ pages }: { pages: string[] }) =>
        pages.map((page) => `/${page}`),
      );
      return [...listed, ...(config.redirects ?? []).map(({ destination }: { destination: string }) => destination)];
    },
  },
  {
    framework: "docusaurus",
    extension: ".md",
    root: "docs/",
    route: (path) => `/docs/${inside("docs/", path)}`,
    forms: ["file", "route"],
    config: (pages) => ({
      "docusaurus.config.js": `export default {
  baseUrl: '/',
  presets: [['classic', { docs: { sidebarPath: './sidebars.js' }, blog: false }]],
  plugins: [['@docusaurus/plugin-client-redirects', { redirects: [] }]],
};
`,
      "sidebars.js": `export default {\n  docs: [\n${pages.map((page) => `    '${inside("docs/", page)}',\n`).join("")}  ],\n};\n`,
    }),
    entries: (files) => [
      ...quotedAfter(files.get("sidebars.js") ?? "", /'([^']+)'/g).map((id) => `/docs/${id}`),
      ...quotedAfter(files.get("docusaurus.config.js") ?? "", /to: ['"]([^'"]+)['"]/g),
    ],
  },
  {
    framework: "mkdocs",
    extension: ".md",
    root: "docs/",
    route: (path) => `/${inside("docs/", path)}/`,
    forms: ["file"],
    config: (pages) => ({
      "mkdocs.yml": `site_name: Acme\nnav:\n${pages.map((page) => `  - ${page.slice(5)}\n`).join("")}`,
    }),
    entries: (files) => quotedAfter(files.get("mkdocs.yml") ?? "", /^ {2}- (\S+)\.md$/gm).map((page) => `/${page}/`),
  },
  {
    framework: "vitepress",
    extension: ".md",
    root: "docs/",
    route: (path) => `/${inside("docs/", path)}`,
    forms: ["file", "route", "near"],
    config: (pages) => ({
      "docs/.vitepress/config.ts": `export default {\n  themeConfig: {\n    sidebar: [\n${pages.map((page, i) => `      { text: 'P${i}', link: '/${inside("docs/", page)}' },\n`).join("")}    ],\n  },\n}\n`,
    }),
    entries: (files) => quotedAfter(files.get("docs/.vitepress/config.ts") ?? "", /link: '([^']+)'/g),
  },
  {
    framework: "starlight",
    extension: ".md",
    root: "src/content/docs/",
    route: (path) => `/${inside("src/content/docs/", path)}/`,
    forms: ["route", "near"],
    config: (pages) => ({
      "astro.config.mjs": `import starlight from '@astrojs/starlight';
export default defineConfig({
  integrations: [
    starlight({
      sidebar: [
${pages.map((page, i) => (i % 2 === 0 ? `        '${inside("src/content/docs/", page)}',\n` : `        { slug: '${inside("src/content/docs/", page)}' },\n`)).join("")}      ],
    }),
  ],
});
`,
    }),
    entries(files) {
      const text = files.get("astro.config.mjs") ?? "";
      const slugs = quotedAfter(text, /^ {8}(?:\{ slug: )?'([^']+)'/gm).map((slug) => `/${slug}/`);
      return [...slugs, ...quotedAfter(text, /'\/[^']*': '([^']+)'/g).map((route) => `${route}/`)];
    },
  },
  {
    framework: "nextra",
    extension: ".mdx",
    root: "content/",
    route: (path) => `/${inside("content/", path)}`,
    forms: ["route", "near"],
    config: () => ({
      "next.config.mjs":
        "import nextra from 'nextra'\nexport default nextra({})({\n  async redirects() {\n    return [\n      { source: '/x', destination: '/alpha', permanent: true },\n    ]\n  },\n})\n",
    }),
    entries: (files) =>
      quotedAfter(files.get("next.config.mjs") ?? "", /destination: '([^']+)', permanent: true/g).filter(
        (route) => route !== "/alpha",
      ),
  },
  {
    framework: "gitbook",
    extension: ".md",
    root: "",
    route: (path) => `/${inside("", path)}`,
    forms: ["file"],
    config: (pages) => ({ "SUMMARY.md": `# Contents\n\n${pages.map((page) => `* [${page}](${page})\n`).join("")}` }),
    entries: (files) => quotedAfter(files.get("SUMMARY.md") ?? "", /\]\((\S+)\.md\)/g).map((page) => `/${page}`),
  },
  {
    framework: "markdown",
    extension: ".md",
    root: "",
    route: (path) => `/${inside("", path)}`,
    forms: ["file"],
    config: () => ({}),
    entries: () => [],
  },
];

export type Random = (below: number) => number;

/** Small, even, and the same on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const folders = ["", "guides/", "guides/deep/", "api/", "api/v1/"];
const names = ["alpha", "beta", "gamma", "delta", "api-keys", "keys"];

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

export function randomPlace(random: Random): string {
  return pick(random, [...folders, "new/", "new/place/"]) + pick(random, [...names, "moved", "omega"]);
}

/** Pages with links between them in every form that the layout knows, a few of them dead. */
export function randomSite(layout: Layout, random: Random): Record<string, string> {
  const stems = new Set<string>();
  while (stems.size < 3 + random(5)) stems.add(pick(random, folders) + pick(random, names));
  const pages = [...stems].map((stem) => `${layout.root}${stem}${layout.extension}`);
  const files: Record<string, string> = { ...layout.config(pages) };
  pages.forEach((page, i) => {
    const lines = Array.from({ length: random(6) }, (_, n) => {
      const number = random(pages.length);
      const goal = random(12) === 0 ? `${layout.root}guides/nowhere${layout.extension}` : (pages[number] as string);
      const hash = random(3) === 0 && !goal.includes("nowhere") ? `#part-of-p${number}` : "";
      const target = write(layout, pick(random, layout.forms), page, goal) + hash;
      const forms = [
        `[a](${target})`,
        `> See [b](${target}) there.`,
        `<a href="${target}">c</a>`,
        `[d][ref${n}]\n\n[ref${n}]: ${target}`,
      ];
      return pick(random, forms);
    });
    files[page] = `# Page P${i}\n\n${lines.join("\n\n")}\n\n## Part of P${i}\n\nText.\n`;
  });
  return files;
}

function write(layout: Layout, form: Layout["forms"][number], from: string, goal: string): string {
  if (form === "route") return layout.route(goal);
  if (form === "file") {
    const path = posix.relative(posix.dirname(from), goal);
    return path.startsWith(".") ? path : `./${path}`;
  }
  const route = layout.route(from);
  const base = route.endsWith("/") ? route : posix.dirname(route);
  const path = posix.relative(base, layout.route(goal)) || ".";
  return `${path.startsWith(".") ? path : `./${path}`}${layout.route(goal).endsWith("/") ? "/" : ""}`;
}
