/** The same small site in three frameworks: what an agent knows of one must not be luck. */
export interface EvalSite {
  framework: "mintlify" | "mkdocs" | "docusaurus";
  /** What pages end with. */
  extension: string;
  files: Readonly<Record<string, string>>;
}

const code = `/** Sends a message. Retries \`attempts\` times. */
export function sendMessage(channel: string, text: string, attempts = 3): Promise<Receipt> {
  return deliver({ channel, text }, attempts);
}

/** Opens a connection. \`timeoutMs\` bounds the handshake. */
export function openConnection(address: string, timeoutMs: number): Connection {
  return new Connection(address, { timeoutMs });
}
`;

/** Another repository, which only its name tells of: what it says is nowhere in the docs. */
export const service: Readonly<Record<string, string>> = {
  "README.md": "# Relay's service\n",
  "src/quota.ts": `import { store } from "./store.ts";

/** How many messages a channel may send in a minute before they wait. */
export const messagesPerMinuteMax = 42;

/**
 * Holds a message back. \`waitMs\` grows with every try, up to \`waitMsMax\` (default 9000); with \`urgent\` it does not wait.
 */
export function holdBack(channel: string, waitMs: number, waitMsMax = 9000, urgent = false): Promise<void> {
  return urgent ? Promise.resolve() : store.wait(channel, Math.min(waitMs, waitMsMax));
}
`,
  "src/store.ts": "export const store = { wait: async (_channel: string, _ms: number): Promise<void> => {} };\n",
};

const pages: ReadonlyArray<[path: string, title: string, body: (link: Link) => string]> = [
  ["index", "Welcome", (link) => `Relay moves messages. Begin with the ${link("quickstart", "guides/quickstart")}.\n`],
  [
    "guides/quickstart",
    "Quickstart",
    (link) =>
      `## Install\n\nRun \`relay start --port 8080\`. You need an API token.\n\n## Next steps\n\nRead ${link("tokens", "guides/tokens")} and the ${link("options", "reference/options")}.\n`,
  ],
  [
    "guides/tokens",
    "Tokens",
    (link) =>
      `An API token says who you are. Keep API tokens secret.\n\n## Rotate\n\nSee ${link("the install step", "guides/quickstart", "#install")}.\n`,
  ],
  [
    "reference/options",
    "Options",
    (link) =>
      `## Listening\n\n\`--port\` sets the port:\n\n\`\`\`sh\nrelay start --port 8080\n\`\`\`\n\nSee ${link("tokens", "guides/tokens")}.\n`,
  ],
];

type Link = (text: string, page: string, anchor?: string) => string;

export function evalSites(): readonly EvalSite[] {
  return [mintlify(), mkdocs(), docusaurus()];
}

function mintlify(): EvalSite {
  const link: Link = (text, page, anchor = "") => `[${text}](/${page}${anchor})`;
  const navigation = [
    { group: "Guides", pages: ["index", "guides/quickstart", "guides/tokens"] },
    { group: "Reference", pages: ["reference/options"] },
  ];
  return {
    framework: "mintlify",
    extension: ".mdx",
    files: {
      ...pageFiles(link, ".mdx"),
      "docs.json": `${JSON.stringify({ $schema: "https://mintlify.com/docs.json", name: "Relay", navigation: { groups: navigation } }, null, 2)}\n`,
      "src/relay.ts": code,
    },
  };
}

function mkdocs(): EvalSite {
  const files = pageFiles(relativeLink(".md"), ".md");
  const config = [
    "site_name: Relay",
    "nav:",
    "  - Guides:",
    "      - index.md",
    "      - guides/quickstart.md",
    "      - guides/tokens.md",
    "  - Reference:",
    "      - reference/options.md",
    "",
  ].join("\n");
  return {
    framework: "mkdocs",
    extension: ".md",
    files: { ...below("docs", files), "mkdocs.yml": config, "src/relay.ts": code },
  };
}

function docusaurus(): EvalSite {
  const files = pageFiles(relativeLink(".md"), ".md");
  const sidebars = `module.exports = {
  docs: [
    { type: 'category', label: 'Guides', items: ['index', 'guides/quickstart', 'guides/tokens'] },
    { type: 'category', label: 'Reference', items: ['reference/options'] },
  ],
};
`;
  const config = `module.exports = {
  title: 'Relay',
  url: 'https://relay.example',
  baseUrl: '/',
  presets: [['classic', { docs: { sidebarPath: './sidebars.js' } }]],
};
`;
  return {
    framework: "docusaurus",
    extension: ".md",
    files: {
      ...below("docs", files),
      "sidebars.js": sidebars,
      "docusaurus.config.js": config,
      "src/relay.ts": code,
    },
  };
}

/** Where a page of a site lies in its repository. */
export function pathOf(site: EvalSite, page: string): string {
  return `${site.framework === "mintlify" ? "" : "docs/"}${page}${site.extension}`;
}

/** As a person would name the page: without its extension, and with the folder where its address has it. */
export function named(site: EvalSite, page: string): string {
  return site.framework === "docusaurus" ? `docs/${page}` : page;
}

function pageFiles(link: Link | ((from: string) => Link), extension: string): Record<string, string> {
  const files = pages.map(([page, title, body]) => {
    const linkHere = link.length === 1 ? (link as (from: string) => Link)(page) : (link as Link);
    return [`${page}${extension}`, `---\ntitle: ${title}\n---\n\n${body(linkHere)}`];
  });
  return Object.fromEntries(files);
}

function relativeLink(extension: string): (from: string) => Link {
  return (from) =>
    (text, page, anchor = "") => {
      const up = "../".repeat(from.split("/").length - 1);
      return `[${text}](${up}${page}${extension}${anchor})`;
    };
}

function below(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}
