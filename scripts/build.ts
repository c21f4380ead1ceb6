// Compiles the publishable package @emend/cli: `npm run build` writes packages/cli/dist, ready for `npm pack`. File by
// file in the same layout, because workers, migrations, prompts and the sample are loaded relative to their source.
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { builtinModules, stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "acorn";
import { ensureBuild } from "../packages/dashboard/build/ensure-build.ts";
import { writeSbom } from "./sbom.ts";

const root = dirname(import.meta.dirname);
const ours = [
  "cli",
  "server",
  "agent",
  "publish",
  "review",
  "forges",
  "tree",
  "base",
  "build",
  "site",
  "sdk",
  "contract",
  "chat",
  "knowledge",
  "tracing",
  "mcp",
  "lsp",
  "runners",
] as const;
const besideSource = {
  cli: ["package.json", "sample", "sample-code"],
  server: ["package.json"],
  dashboard: ["dist"],
} as const;

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  engines?: Record<string, string>;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export async function buildPackage(outDir: string): Promise<void> {
  await rm(outDir, { recursive: true, force: true });
  await ensureBuild();
  for (const name of ours) await compileFolder(join(root, "packages", name, "src"), outDir);
  for (const [name, paths] of Object.entries(besideSource)) {
    for (const path of paths) {
      const source = join(root, "packages", name, path);
      await cp(source, join(outDir, relative(root, source)), { recursive: true });
    }
  }
  await addCommit(join(outDir, "packages/cli/package.json"));
  await mkdir(join(outDir, "bin"));
  await cp(join(root, "packages/cli/bin/emend.cjs"), join(outDir, "bin/emend.cjs"));
  await chmod(join(outDir, "bin/emend.cjs"), 0o755);
  for (const file of ["LICENSE", "README.md"]) await cp(join(root, file), join(outDir, file));
  await cp(join(root, "skills"), join(outDir, "skills"), { recursive: true });
  // For editors, which find it in node_modules.
  await cp(join(root, "docs/check.schema.json"), join(outDir, "check.schema.json"));
  const manifest = await manifestOf();
  await writeFile(join(outDir, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await refuseUnresolved(outDir, Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
}

/** For `emend --version`. Without git, as in an image, the variable says it. */
async function addCommit(file: string): Promise<void> {
  const asked = spawnSync("git", ["-C", root, "rev-parse", "HEAD"], { encoding: "utf8" });
  const commit = (process.env.EMEND_COMMIT ?? (asked.status === 0 ? asked.stdout.trim() : "")).slice(0, 12);
  const manifest = JSON.parse(await readFile(file, "utf8"));
  await writeFile(file, `${JSON.stringify({ ...manifest, ...(commit && { commit }) }, null, 2)}\n`);
}

async function compileFolder(folder: string, outDir: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath, entry.name);
    if (!entry.isFile() || /\.test\.ts$/.test(source)) continue;
    const target = join(outDir, relative(root, source));
    await mkdir(dirname(target), { recursive: true });
    if (!source.endsWith(".ts")) await cp(source, target);
    else await writeFile(target.replace(/\.ts$/, ".js"), compile(await readFile(source, "utf8"), target, outDir));
  }
}

/** Types become white space; then imports of our files point to the compiled ones. */
function compile(source: string, target: string, outDir: string): string {
  return stripTypeScriptTypes(source)
    .replaceAll(/(\b(?:from|import|new URL)\s*\(?\s*)"(\.{1,2}\/[^"\n]*)\.ts"/g, '$1"$2.js"')
    .replaceAll(/(\b(?:from|import)\s*\(?\s*)"(@emend\/[^"]+)"/g, (_, before, name) => {
      // As the package exports it.
      const source = realpathSync(fileURLToPath(import.meta.resolve(name)));
      const compiled = join(outDir, relative(root, source)).replace(/\.ts$/, ".js");
      return `${before}"./${relative(dirname(target), compiled)}"`;
    });
}

/** Everything that a compiled file imports must be in the package, or be a dependency of it. */
async function refuseUnresolved(outDir: string, dependencies: readonly string[]): Promise<void> {
  const known = new Set([...dependencies, ...builtinModules]);
  const missing: string[] = [];
  for (const entry of await readdir(join(outDir, "packages"), { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !file.endsWith(".js") || !file.includes("/src/")) continue;
    for (const name of importsOf(
      parse(await readFile(file, "utf8"), { ecmaVersion: "latest", sourceType: "module" }),
    )) {
      const target = name.startsWith(".") ? join(dirname(file), name) : null;
      const packageName = /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? "";
      const isThere = target === null ? name.startsWith("node:") || known.has(packageName) : existsSync(target);
      if (!isThere) missing.push(`${relative(outDir, file)} imports ${name}`);
    }
  }
  if (missing.length > 0) throw new Error(`The package is not whole:\n${missing.join("\n")}`);
}

/** The names in imports and exports, and the files that workers and data are loaded from. */
function importsOf(node: object): readonly string[] {
  const {
    type,
    source,
    callee,
    arguments: given,
  } = node as Record<string, { name?: string; value?: unknown }[] & { name?: string; value?: unknown }>;
  const text = (part: { value?: unknown } | null | undefined) => (typeof part?.value === "string" ? [part.value] : []);
  const kind = String(type);
  const isFile = kind === "NewExpression" && callee?.name === "URL" && given?.length === 2;
  const own = /^(?:Import|Export)/.test(kind)
    ? text(source)
    : isFile
      ? text(given?.[0]).filter((name) => /^\..*\.js$/.test(name))
      : [];
  const parts = Object.values(node).flat() as unknown[];
  return [
    ...own,
    ...parts.flatMap((part) => (typeof part === "object" && part !== null && "type" in part ? importsOf(part) : [])),
  ];
}

async function manifestOf() {
  const cli = await readManifest("packages/cli/package.json");
  const { engines } = await readManifest("package.json");
  const all = await Promise.all(ours.map((name) => readManifest(`packages/${name}/package.json`)));
  const foreign = all.flatMap(({ dependencies = {} }) => Object.entries(dependencies));
  return {
    name: cli.name,
    version: cli.version,
    description: cli.description,
    license: cli.license,
    type: "module",
    bin: { emend: "bin/emend.cjs" },
    engines,
    os: ["linux", "darwin"],
    // Otherwise npm treats a scoped package as private.
    publishConfig: { access: "public" },
    dependencies: Object.fromEntries(foreign.filter(([name]) => !name.startsWith("@emend/")).sort()),
    optionalDependencies: Object.assign({}, ...all.map((each) => each.optionalDependencies ?? {})) as object,
  };
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, path), "utf8"));
}

if (import.meta.main) {
  // scripts/run.mjs starts this with a Node from node_modules where the machine's own is too old.
  const isFallbackNode = process.execPath.startsWith(join(root, "node_modules"));
  const outDir = join(root, "packages/cli/dist");
  await buildPackage(outDir);
  await writeSbom(outDir, "packages/cli");
  const { name, version } = await readManifest("packages/cli/package.json");
  const files = (await readdir(outDir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const tarball = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
  const tooOld = isFallbackNode
    ? `
The Node of this machine is too old for it: npm brought a newer one, but for this checkout only. Before you start it,
install Node 22.18 or newer from https://nodejs.org.
`
    : "";
  console.log(`Built ${name} ${version}: ${files.length} files in ${relative(process.cwd(), outDir)}.

Next, make a package and install it:
  npm pack ./${relative(process.cwd(), outDir)}
  npm install --global ./${tarball}
${tooOld}
On a machine where you may not write to npm's global folder, add --prefix ~/.local. Then start it:
  emend serve`);
}
