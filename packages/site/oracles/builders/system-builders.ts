// Builders that run as programs of the system: Python, Go, Ruby, Rust.
import { dirOf, joinPath, splitTarget } from "../../src/links/target.ts";
import { type Builder, homeOf, indexUrl, pythonVersions, type Ran, run, runSystem } from "./builder.ts";

export const mkdocs: Builder = {
  framework: "mkdocs",
  packages: {},
  make: (folder, env) => runSystem(`mkdocs build ${env?.ORACLE_STRICT === "1" ? "--strict" : "--quiet"}`)(folder),
  output: "site",
  pageUrl: indexUrl,
  async versions(folder) {
    const { log } = await run("mkdocs", ["--version"], folder);
    const [markdown = "", pymdownx = ""] = await pythonVersions("mkdocs", ["markdown", "pymdownx"], folder);
    return { mkdocs: /version (\S+)/.exec(log)?.[1] ?? "", markdown, "pymdown-extensions": pymdownx };
  },
  async read({ log }) {
    const reported = new Set<string>();
    for (const found of log.matchAll(/file '([^']+)' contains a link to '([^']+)' which is not found/g))
      reported.add(`${found[1]} ${found[2]}`);
    return {
      isReported({ path, target }) {
        // MkDocs names a link by its page and its target file.
        const inRoot = path.slice("docs/".length);
        return reported.has(`${inRoot} ${joinPath(dirOf(inRoot), splitTarget(target).path) ?? target}`);
      },
    };
  },
};

/** Newer than most systems have: since 0.123, a multilingual site has a built-in hook that resolves links to files. */
const runHugo = (args: string, folder: string): Promise<Ran> =>
  run("sh", ["-c", `${homeOf(folder)}/usr/bin/hugo ${args}`], folder);

export const hugo: Builder = {
  framework: "hugo",
  packages: {},
  archives: ["h/hugo/hugo_0.131.0-1_amd64.deb"],
  make: (folder) => runHugo("--minify=false", folder),
  output: "public",
  pageUrl: indexUrl,
  versions: async (folder) => ({ hugo: /v([\d.]+)/.exec((await runHugo("version", folder)).log)?.[1] ?? "" }),
  read: async () => ({ isReported: (_link, href) => href.includes("ref-not-found") }),
};

export const jekyll: Builder = {
  framework: "jekyll",
  packages: {},
  make: runSystem("jekyll build --disable-disk-cache"),
  output: "_site",
  pageUrl: indexUrl,
  async versions(folder) {
    const script = "require 'jekyll'; require 'kramdown'; puts [Jekyll::VERSION, Kramdown::VERSION].join(' ')";
    const [jekyllVersion = "", kramdown = ""] = (await run("ruby", ["-e", script], folder)).log.trim().split(" ");
    return { jekyll: jekyllVersion, kramdown };
  },
  read: async () => ({}),
};

/** Runs Python code that any newer Python supports, with dependencies from the system's packages. */
const runPython = (args: string, folder: string): Promise<Ran> =>
  run("sh", ["-c", `/usr/bin/python3 ${args}`], folder, {
    PYTHONPATH: `${homeOf(folder)}/usr/lib/python3/dist-packages`,
  });

export const sphinx: Builder = {
  framework: "sphinx",
  packages: {},
  archives: [
    "s/sphinx/python3-sphinx_8.1.3-5_all.deb",
    "s/sphinx/sphinx-common_8.1.3-5_all.deb",
    "m/myst-parser/python3-myst-parser_4.0.1-1_all.deb",
    "p/python-docutils/python3-docutils_0.21.2+dfsg-2_all.deb",
    "p/python-docutils/docutils-common_0.21.2+dfsg-2_all.deb",
    "m/markdown-it-py/python3-markdown-it_3.0.0-3_all.deb",
    "m/mdit-py-plugins/python3-mdit-py-plugins_0.4.2-1_all.deb",
  ],
  make: (folder, env) =>
    runPython(`-m sphinx -b html ${env?.ORACLE_STRICT === "1" ? "-W --keep-going" : "-q"} . _build`, folder),
  output: "_build",
  pageUrl: indexUrl,
  async versions(folder) {
    const ask = `-c "import sphinx, myst_parser; print(sphinx.__version__, myst_parser.__version__)"`;
    const [sphinxVersion = "", myst = ""] = (await runPython(ask, folder)).log.trim().split(" ");
    return { sphinx: sphinxVersion, "myst-parser": myst };
  },
  async read({ log }, site, folder) {
    const reported = new Set<string>();
    for (const [, path = "", what = "", name = ""] of log.matchAll(
      /^(.+?):\d+: WARNING: (?:'myst' )?(cross-reference target|local id|Unknown source document|unknown document|undefined label).*?:? '([^']*)' \[[\w.]+\]$/gm,
    ))
      reported.add(`${path.slice(folder.length + 1)} ${what} ${name}`);
    // Links use MyST's own heading ids, down to the configured level. docutils writes other ids.
    const ids = new Map<string, string[]>();
    for (const path of site.headings.length === 0 ? [] : [site.headingsPath, ...site.blocks.values()]) {
      const ask = `-c "from myst_parser.cli import print_anchors; print_anchors()" -l 4 "${path}"`;
      const { log: html } = await runPython(ask, folder);
      ids.set(
        path,
        [...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id),
      );
    }
    return {
      // A role that cannot be resolved is rendered as plain text.
      dropsBroken: true,
      isReported({ path, target }) {
        const { path: file, hash } = splitTarget(target);
        const has = (what: string, name: string): boolean => reported.has(`${path} ${what} ${name}`);
        const source = (joinPath(file.startsWith("/") ? "" : dirOf(path), file.replace(/^\//, "")) ?? "").replace(
          /\.md$/,
          "",
        );
        if (has("cross-reference target", target) || has("Unknown source document", source)) return "broken";
        return hash !== null && has(file === "" ? "cross-reference target" : "local id", hash) ? "no anchor" : false;
      },
      ids,
    };
  },
};

/** mdBook's shared libraries are unpacked next to it. */
async function runMdbook(args: string, folder: string): Promise<Ran> {
  const home = homeOf(folder);
  const libraries = `${home}/usr/lib/x86_64-linux-gnu`;
  const loader = `${libraries}/ld-linux-x86-64.so.2 --library-path ${libraries}:/usr/lib/x86_64-linux-gnu`;
  return run("sh", ["-c", `${loader} ${home}/usr/bin/mdbook ${args}`], folder);
}

export const mdbook: Builder = {
  framework: "mdbook",
  packages: {},
  archives: ["m/mdbook/mdbook_0.4.48+ds-2_amd64.deb", "g/glibc/libc6_2.41-12+deb13u4_amd64.deb"],
  make: (folder) => runMdbook("build", folder),
  output: "book",
  pageUrl: indexUrl,
  versions: async (folder) => ({ mdbook: /v([\d.]+)/.exec((await runMdbook("--version", folder)).log)?.[1] ?? "" }),
  read: async () => ({}),
};
