// A small documentation site as data, and the same site as files of each framework: a right answer to a task is the
// site of a changed model, so links, navigation and redirects follow in every framework alike.

export const frameworks = ["mintlify", "mkdocs", "docusaurus"] as const;
export type Framework = (typeof frameworks)[number];
export type Files = Readonly<Record<string, string>>;

/** Pages by their id, such as `guides/tokens`; `[text](page:guides/tokens#rotate)` in a body is a link. */
export interface SiteModel {
  pages: Readonly<Record<string, Page>>;
  navigation: ReadonlyArray<{ group: string; pages: readonly string[] }>;
  redirects: ReadonlyArray<readonly [from: string, to: string]>;
  /** Files beside the site, as they are. */
  others: Files;
}

export interface Page {
  title: string;
  /** Further front matter. */
  meta?: Readonly<Record<string, string>>;
  body: string;
}

export function pathOf(framework: Framework, page: string): string {
  return framework === "mintlify" ? `${page}.mdx` : `docs/${page}.md`;
}

/** As a person names a page: without its extension, and with the folder where its address has it. */
export function named(framework: Framework, page: string): string {
  return framework === "docusaurus" ? `docs/${page}` : page;
}

export function buildSite(framework: Framework, model: SiteModel): Record<string, string> {
  const files: Record<string, string> = { ...model.others };
  for (const [id, page] of Object.entries(model.pages)) {
    const meta = Object.entries({ title: page.title, ...page.meta }).map(([key, value]) => `${key}: ${value}\n`);
    files[pathOf(framework, id)] = `---\n${meta.join("")}---\n\n${linked(framework, id, page.body)}`;
  }
  return { ...files, ...configOf[framework](model) };
}

function linked(framework: Framework, from: string, body: string): string {
  return body.replace(/\(page:([^)#]*)(#[^)]*)?\)/g, (_whole, page: string, anchor = "") => {
    if (framework === "mintlify") return `(/${page}${anchor})`;
    return page === from && anchor ? `(${anchor})` : `(${relative(from, page)}.md${anchor})`;
  });
}

function relative(from: string, to: string): string {
  const [folder, target] = [from.split("/").slice(0, -1), to.split("/")];
  while (folder.length > 0 && target.length > 1 && folder[0] === target[0]) {
    folder.shift();
    target.shift();
  }
  return [...folder.map(() => ".."), ...target].join("/");
}

const configOf: Record<Framework, (model: SiteModel) => Record<string, string>> = {
  mintlify({ navigation, redirects }) {
    const config = {
      $schema: "https://mintlify.com/docs.json",
      name: "Relay",
      navigation: { groups: navigation },
      redirects: redirects.map(([from, to]) => ({ source: `/${from}`, destination: `/${to}` })),
    };
    return { "docs.json": `${JSON.stringify(config, null, 2)}\n` };
  },
  mkdocs({ navigation, redirects }) {
    const lines = [
      "site_name: Relay",
      "plugins:",
      "  - search",
      "  - redirects:",
      "      redirect_maps:",
      ...redirects.map(([from, to]) => `        ${from}.md: ${to}.md`),
      "nav:",
      ...navigation.flatMap(({ group, pages }) => [`  - ${group}:`, ...pages.map((page) => `      - ${page}.md`)]),
    ];
    return { "mkdocs.yml": `${lines.join("\n")}\n` };
  },
  docusaurus({ navigation, redirects }) {
    const categories = navigation.map(({ group, pages }) => {
      const items = pages.map((page) => `'${page}'`).join(", ");
      return `    { type: 'category', label: '${group}', items: [${items}] },\n`;
    });
    const pairs = redirects.map(([from, to]) => `        { from: '/docs/${from}', to: '/docs/${to}' },\n`);
    const config = [
      "module.exports = {",
      "  title: 'Relay',",
      "  url: 'https://relay.example',",
      "  baseUrl: '/',",
      "  presets: [['classic', { docs: { sidebarPath: './sidebars.js' } }]],",
      "  plugins: [",
      "    ['@docusaurus/plugin-client-redirects', {",
      "      redirects: [",
      `${pairs.join("")}      ],`,
      "    }],",
      "  ],",
      "};",
    ];
    return {
      "sidebars.js": `module.exports = {\n  docs: [\n${categories.join("")}  ],\n};\n`,
      "docusaurus.config.js": `${config.join("\n")}\n`,
    };
  },
};

/** A page under another id, with every link, navigation entry and redirect that names it. */
export function moved(model: SiteModel, from: string, to: string): SiteModel {
  const to_ = (page: string) => (page === from ? to : page);
  const link = new RegExp(`\\(page:${from}(?=[#)])`, "g");
  const pages = Object.entries(model.pages).map(([id, page]) => [
    to_(id),
    { ...page, body: page.body.replace(link, `(page:${to}`) },
  ]);
  return {
    ...model,
    pages: Object.fromEntries(pages),
    navigation: model.navigation.map(({ group, pages: listed }) => ({ group, pages: listed.map(to_) })),
    redirects: [...model.redirects.map(([old, at]) => [old, to_(at)] as const), [from, to]],
  };
}

export function withPage(model: SiteModel, id: string, page: Partial<Page>): SiteModel {
  const before = model.pages[id] ?? { title: "", body: "" };
  return { ...model, pages: { ...model.pages, [id]: { ...before, ...page } } };
}

export function withBody(model: SiteModel, id: string, change: (body: string) => string): SiteModel {
  return withPage(model, id, { body: change(model.pages[id]?.body ?? "") });
}

/** Listed at the end of a group, or after a page of it. */
export function listed(model: SiteModel, id: string, group: string, after?: string): SiteModel {
  const navigation = model.navigation.map((entry) => {
    if (entry.group !== group) return entry;
    const place = after === undefined ? entry.pages.length : entry.pages.indexOf(after) + 1;
    return { group, pages: entry.pages.toSpliced(place, 0, id) };
  });
  return { ...model, navigation };
}

/** The same replacement in every body. */
export function everywhere(model: SiteModel, change: (body: string) => string): SiteModel {
  return Object.keys(model.pages).reduce((site, id) => withBody(site, id, change), model);
}
