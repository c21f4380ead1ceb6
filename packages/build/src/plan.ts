import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { findProgram, programMounts } from "@emend/runners";
import type { Site } from "@emend/site";
import type { Tree } from "@emend/tree";
import { asciidoctor, type Builder, builders, sphinx } from "./builders.ts";
import type { Prepared } from "./prepare.ts";

/** A project's settings. */
export interface BuildSettings {
  on: boolean;
  /** Run by a shell at the repository's root, instead of the framework's builder. */
  command: string | null;
  /** The folder of the repository that the command writes the site to. Null: there are no pictures of its pages. */
  output: string | null;
  /** Samples of changed pages that run: `marked` ones, and all in these languages. Empty: none. */
  samples: readonly string[];
  /** A shell command that serves what samples of HTTP ask and screenshots show, beside them. */
  service: string | null;
  /** Whether the packages of the base's lock file are installed, and whether their install scripts run. */
  packages: "none" | "install" | "install_with_scripts";
}

/** What is run, where, and what it sees besides the tree. */
export interface Plan {
  /** For people: `mkdocs`, or the owner's command. */
  name: string;
  /** The folder of the tree to run in. */
  folder: string;
  command: readonly string[];
  /** Where the built site is then: in the folder, or an absolute path. Null: it is not known. */
  site: string | null;
  /** Why there may be no site, and what to do. */
  noSite?: string;
  isHashed?: true;
  mounts: readonly string[];
  /** Folders of the tree that are packages, and not files of the repository. */
  packageFolders: readonly string[];
  /** Of everything above: another builder or package gives another result. */
  key: string;
}

export type Planned = { kind: "planned"; plan: Plan } | { kind: "unavailable"; words: string };

/** Where the built site goes: in memory, and gone with the sandbox. */
const output = "/tmp/emend-site";

/** The site's builder, if it is known. Null: an owner must set a command. */
export function builderOf(site: Site): { builder: Builder; folder: string } | null {
  if (site.framework === "markdown") return builderOfOther(site);
  const builder = builders.find(({ framework }) => framework === site.framework);
  if (!builder) return null;
  const config = site.model.configFiles.find((path) => builder.config.test(path));
  return config === undefined ? null : { builder, folder: config.replace(builder.config, "") };
}

/** Sites whose pages Emend does not read itself: reStructuredText and AsciiDoc. */
function builderOfOther({ index, docsDir }: Site): { builder: Builder; folder: string } | null {
  const paths = [...index.files.keys()].filter((path) => docsDir === "" || path.startsWith(`${docsDir}/`));
  const depth = (path: string) => path.split("/").length;
  const configs = paths.filter((path) => sphinx.config.test(path)).map((path) => path.replace(sphinx.config, ""));
  const [folder] = configs
    .filter((at) => index.files.has(at === "" ? "index.rst" : `${at}/index.rst`))
    .sort((a, b) => depth(a) - depth(b));
  if (folder !== undefined) return { builder: sphinx, folder };
  return paths.some((path) => path.endsWith(".adoc")) ? { builder: asciidoctor, folder: docsDir } : null;
}

export async function planBuild(input: {
  site: Site;
  settings: BuildSettings;
  prepared: Prepared | null;
  /** The server's search path. */
  path: string;
}): Promise<Planned> {
  const { settings, prepared } = input;
  const packages = {
    mounts: prepared?.mounts ?? [],
    packageFolders: prepared?.folders ?? [],
  };
  if (settings.command !== null) {
    const command = ["/bin/sh", "-c", settings.command];
    const site = settings.output;
    const key = keyOf([command, site, prepared?.key]);
    return { kind: "planned", plan: { name: "the build command", folder: "", command, site, ...packages, key } };
  }
  const found = builderOf(input.site);
  if (found === null) {
    const what =
      input.site.framework === "markdown"
        ? "plain Markdown has no builder"
        : `${input.site.framework} has no builder that Emend knows`;
    return { kind: "unavailable", words: `${what}. Set build.command, or turn build.on off` };
  }
  const { builder, folder } = found;
  const args = builder.args(output);
  const { noSite, isHashed } = builder;
  const site = {
    site: builder.site === undefined ? output : builder.site,
    ...(noSite && { noSite }),
    ...(isHashed && { isHashed }),
  };
  const from = builder.isHashed ? await scriptFromElsewhere(input.site) : null;
  if (from !== null) {
    const words = `the script of ${builder.framework} comes from ${from}, and a build has no network. Keep it in the repository`;
    return { kind: "unavailable", words: `${words}, or turn build.on off` };
  }
  if (builder.from === "npm") {
    if (prepared === null || !prepared.programs.has(builder.program)) {
      const why =
        prepared === null
          ? "no packages are installed. Set build.packages to install"
          : `the lock file's packages do not have it`;
      return { kind: "unavailable", words: `${builder.framework} needs the program ${builder.program}, and ${why}` };
    }
    const command = [builder.program, ...args];
    return {
      kind: "planned",
      plan: {
        name: builder.program,
        folder,
        command,
        ...site,
        ...packages,
        key: keyOf([command, folder, prepared.key]),
      },
    };
  }
  const file = await findProgram(builder.program, input.path);
  if (file === null) {
    return {
      kind: "unavailable",
      words: `${builder.program} is not installed on this server. Install it, or set build.command`,
    };
  }
  const { mtimeMs, size } = await stat(file);
  const command = [file, ...args];
  const mounts = [...packages.mounts, ...(await programMounts(file))];
  const key = keyOf([command, folder, mtimeMs, size, prepared?.key]);
  return {
    kind: "planned",
    plan: { name: nameOf(builder), folder, command, ...site, mounts, packageFolders: packages.packageFolders, key },
  };
}

/** For people. */
const nameOf = ({ program, framework, isHashed }: Builder) => (isHashed ? framework : program);

/** The host that the page's own renderer is loaded from. Null: the repository has it. */
async function scriptFromElsewhere({ tree, model, framework }: Site): Promise<string | null> {
  const [page = ""] = model.configFiles;
  const text = Buffer.from((await tree.read(page)) ?? "").toString();
  const sources = [...text.matchAll(/<script[^>]*\bsrc\s*=\s*["']?((?:https?:)?\/\/[^"'\s>]+)/gi)];
  const url = sources
    .map(([, src = ""]) => URL.parse(src, "https://site/"))
    .find((one) => one?.pathname.includes(framework));
  return url?.hostname ?? null;
}

function keyOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** The same files give the same key, in a commit and in an overlay. */
export async function treeKey(tree: Tree): Promise<string> {
  const sum = createHash("sha256");
  for (const { path, mode, oid } of await tree.list()) sum.update(`${mode} ${oid} ${path}\0`);
  return sum.digest("hex");
}
