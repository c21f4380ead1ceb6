/** How a framework's own builder is called, in the folder of its configuration. It writes to `output`, outside the work tree. */
export interface Builder {
  framework: string;
  /** Its configuration's path. What it matches is cut off to get the folder. */
  config: RegExp;
  program: string;
  /** `npm`: the program is one of the site's packages. `system`: the operator installs it. */
  from: "npm" | "system";
  args(output: string): readonly string[];
  /** The folder of the built site, if it is not `output`. Null: it writes none. */
  site?: string | null;
  /** Why there may be none, and what to do. */
  noSite?: string;
  /** Pages are addresses behind `#`, which a script of the site shows. */
  isHashed?: true;
}

export const sphinx: Builder = {
  framework: "sphinx",
  config: /(?:^|\/)conf\.py$/,
  program: "sphinx-build",
  from: "system",
  args: (output) => ["-b", "html", "-d", `${output}-doctrees`, ".", output],
};

const noExport =
  'next build wrote no folder "out". Set output: "export" in the configuration of Next, or no page is compared or shown';

/** A new framework is one entry here. */
export const builders: readonly Builder[] = [
  {
    framework: "mkdocs",
    config: /(?:^|\/)mkdocs\.ya?ml$/,
    program: "mkdocs",
    from: "system",
    args: (output) => ["build", "--site-dir", output],
  },
  sphinx,
  {
    framework: "hugo",
    config: /(?:^|\/)(?:config\/.*|(?:hugo|config)\.(?:toml|ya?ml|json))$/,
    program: "hugo",
    from: "system",
    args: (output) => ["--destination", output],
  },
  {
    framework: "jekyll",
    config: /(?:^|\/)_config\.ya?ml$/,
    program: "jekyll",
    from: "system",
    args: (output) => ["build", "--disable-disk-cache", "--destination", output],
  },
  {
    framework: "mdbook",
    config: /(?:^|\/)book\.toml$/,
    program: "mdbook",
    from: "system",
    args: (output) => ["build", "--dest-dir", output],
  },
  {
    framework: "vitepress",
    config: /(?:^|\/)\.vitepress\/.*$/,
    program: "vitepress",
    from: "npm",
    args: (output) => ["build", ".", "--outDir", output],
  },
  {
    framework: "docusaurus",
    config: /(?:^|\/)docusaurus\.config\.[mc]?[jt]s$/,
    program: "docusaurus",
    from: "npm",
    args: () => ["build"],
    site: "build",
  },
  {
    framework: "starlight",
    config: /(?:^|\/)astro\.config\.m?[jt]s$/,
    program: "astro",
    from: "npm",
    // It moves files there, which works only within one file system.
    args: () => ["build"],
    site: "dist",
  },
  {
    framework: "nextra",
    config: /(?:^|\/)next\.config\.[mc]?[jt]s$/,
    program: "next",
    from: "npm",
    args: () => ["build"],
    // Only of a site with `output: "export"`. Others need a server.
    site: "out",
    noSite: noExport,
  },
  {
    framework: "fumadocs",
    config: /(?:^|\/)source\.config\.(?:m?[jt]s|tsx)$/,
    program: "next",
    from: "npm",
    args: () => ["build"],
    site: "out",
    noSite: noExport,
  },
  {
    framework: "docsify",
    config: /(?:^|\/)index\.html$/,
    // It is served as it is.
    program: "true",
    from: "system",
    args: () => [],
    site: ".",
    isHashed: true,
  },
  {
    framework: "mintlify",
    config: /(?:^|\/)(?:docs|mint)\.json$/,
    program: "mint",
    from: "npm",
    args: () => ["validate"],
    site: null,
  },
];

/** Pages in AsciiDoc without a framework. It finds the files itself. */
export const asciidoctor: Builder = {
  framework: "asciidoc",
  config: /$/,
  program: "asciidoctor",
  from: "system",
  args: (output) => ["--source-dir", ".", "--destination-dir", output, "**/*.adoc"],
};
