// Runs inside the sandbox. Loads a configuration written in JavaScript or TypeScript, as its framework would, and prints
// its values as JSON after a mark. It imports nothing of ours: it is the only file of ours in the sandbox.
import { globSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

interface Task {
  work: string;
  marker: string;
  framework: string;
  mark: string;
}

const task = JSON.parse(readFileSync(0, "utf8")) as Task;
const file = join(task.work, task.marker);
const top = dirname(file).replace(/\/\.vitepress(?:\/config)?$/, "");

const print = process.stdout.write.bind(process.stdout);
// What the configuration prints is of no use here.
process.stdout.write = (() => true) as typeof process.stdout.write;

// Frameworks bundle their configuration, so these names may be used there, and endings left out.
const endings = [".ts", ".mts", ".js", ".mjs", ".cjs", ".json", "/index.ts", "/index.mts", "/index.js", "/index.mjs"];
const given: Readonly<Record<string, string>> = {
  require:
    'import { createRequire as emendRequire } from "node:module"; const require = emendRequire(import.meta.url);',
  __dirname: "const __dirname = import.meta.dirname;",
  __filename: "const __filename = import.meta.filename;",
};
// Starlight hides its options in functions.
const starlight = "emend:starlight";

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === "@astrojs/starlight") return { url: starlight, format: "module", shortCircuit: true };
    try {
      return next(specifier, context);
    } catch (error) {
      if (!/^(?:\.{1,2}|\/|file:)/.test(specifier)) throw error;
      const stems = [specifier, specifier.replace(/\.[mc]?js$/, "")];
      for (const name of new Set(stems.flatMap((stem) => endings.map((ending) => stem + ending)))) {
        try {
          return next(name, context);
        } catch {
          // The next ending may exist.
        }
      }
      throw error;
    }
  },
  load(url, context, next) {
    if (url === starlight) {
      const source = "export default (options) => ({ name: '@astrojs/starlight', options });";
      return { format: "module", source, shortCircuit: true };
    }
    const isOwn = url.startsWith("file:") && !url.includes("/node_modules/");
    if (isOwn && url.endsWith(".json") && context.conditions?.includes("import")) {
      const source = `export default ${readFileSync(fileURLToPath(url), "utf8")}`;
      return { format: "module", source, shortCircuit: true };
    }
    const loaded = next(url, context);
    if (!isOwn || !loaded.format?.startsWith("module") || !loaded.source) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    const needed = Object.entries(given).filter(
      ([name]) =>
        new RegExp(`\\b${name}\\b`).test(source) && !new RegExp(`\\b(?:const|let|var) ${name}\\b`).test(source),
    );
    return { ...loaded, source: needed.map(([, line]) => line).join("") + source };
  },
});

/** The keys that decide pages and addresses. */
const keys: Readonly<Record<string, readonly string[]>> = {
  docusaurus: ["baseUrl", "trailingSlash", "i18n", "presets", "plugins"],
  nextra: ["basePath", "trailingSlash", "i18n", "redirects"],
  starlight: ["base", "trailingSlash", "integrations", "redirects", "markdown"],
  vitepress: ["base", "srcDir", "srcExclude", "rewrites", "locales", "cleanUrls"],
};

const depthMax = 16;
const unknown = { $unknown: true };

/** A value as JSON. Paths are relative to the configuration's folder; functions and other objects are unknown. */
function plain(value: unknown, depth = 0): unknown {
  if (typeof value === "string") {
    const isInside = value === task.work || value.startsWith(`${task.work}/`);
    return isInside ? relative(dirname(file), value) || "." : value;
  }
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value !== "object" || depth > depthMax) return unknown;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? unknown : plain(item, depth + 1)));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return unknown;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries.map(([key, one]) => [key, plain(one, depth + 1)]));
}

type Values = Record<string, unknown>;

async function load(): Promise<unknown> {
  const loaded = (await import(pathToFileURL(file).href)) as Values;
  let config: unknown = loaded.default ?? loaded;
  // A compiled module has its default export inside.
  if (typeof config === "object" && config !== null && "default" in config) config = config.default;
  if (typeof config === "function") {
    config = await (task.framework === "nextra"
      ? config("phase-production-build", { defaultConfig: {} })
      : config({ command: "build", mode: "production" }));
  }
  const values = await withParts((await config) as Values);
  const wanted = (keys[task.framework] ?? []).filter((key) => values[key] !== undefined);
  return plain(Object.fromEntries(wanted.map((key) => [key, values[key]])));
}

/** The parts of a configuration that are functions or in other configurations. */
async function withParts(config: Values): Promise<Values> {
  if (typeof config !== "object" || config === null) throw new Error("the file exports no configuration");
  if (task.framework === "nextra" && typeof config.redirects === "function")
    return { ...config, redirects: await config.redirects() };
  if (task.framework === "vitepress" && typeof config.extends === "object")
    return withParts({ ...((await config.extends) as Values), ...config, extends: undefined });
  const { rewrites, srcDir } = config;
  if (task.framework === "vitepress" && typeof rewrites === "function") {
    const cwd = join(top, typeof srcDir === "string" ? srcDir : "");
    const pages = globSync("**/*.md", { cwd, exclude: (path) => path.split("/").includes("node_modules") });
    return { ...config, rewrites: Object.fromEntries(pages.map((page) => [page, rewrites(page)])) };
  }
  return config;
}

let answer: string;
try {
  process.chdir(top);
  answer = JSON.stringify({ values: await load() });
} catch (error) {
  const words = error instanceof Error ? error.message : String(error);
  answer = JSON.stringify({ error: words.split("\n")[0] });
}
// A configuration may leave timers and sockets behind.
print(task.mark + answer, () => process.exit(0));
