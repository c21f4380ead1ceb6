import { baseOf, dirOf, isBelow, underDir } from "../links/target.ts";
import { entryOf, walkLiteral } from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import type { Elsewhere, FrameworkContext, Model } from "./framework.ts";
import { createIgnore } from "./pages.ts";

const hostFiles = [
  "vercel.json",
  "netlify.toml",
  "firebase.json",
  "staticwebapp.config.json",
  "_redirects",
  "next.config.js",
  "next.config.mjs",
  "next.config.ts",
];

/** Whether a configuration has redirects that are not literals. */
function computesRedirects(model: Model, text: string): boolean {
  if (/\bcreateRedirects\b/.test(text)) return true;
  for (const node of walkLiteral(parseLiteral(text))) {
    const list = entryOf(node, "redirects") ?? node;
    if (list !== node && list.kind === "object" && list.children.length > 0) return true;
    if (list.kind !== "array" || !list.items.some((item) => item.kind === "other")) continue;
    if (list !== node || list.items.some((item) => entryOf(item, "destination") !== undefined)) return true;
  }
  return model.redirects.length === 0 && /\bredirects\b\s*(?:[:(,=}]|\n)/.test(text);
}

/** `base: "changelog"`, `route: "/dashboard/"`: where a plugin serves its pages. */
const namedBase = /\b\w*(?:base|route)\w*\s*:\s*["'`]\/?([\w-]+(?:\/[\w.-]+)*)\/?["'`]/gi;

const ownPlugin = /\bfrom\s+["'](?:\.{1,2}|@|~)\/[^"'\n]*(?:remark|rehype|markdown)[^"'\n]*["']|\bslugify\s*[:(]/i;

/** Adds what a repository says about pages that it does not have: ignored files, files of the host, computed redirects. */
export async function withElsewhere(model: Model, context: FrameworkContext): Promise<Model> {
  const ignores: ((path: string) => boolean)[] = [];
  const read: string[] = [];
  const dirs = new Set(["", context.docsDir, model.root, ...model.publicDirs]);
  for (let dir = model.root; dir !== ""; dir = dir.slice(0, Math.max(0, dir.lastIndexOf("/")))) dirs.add(dir);
  for (const path of context.files.keys()) {
    if (path.endsWith("/.gitignore") && isBelow(path, model.root)) dirs.add(dirOf(path));
  }
  const texts = new Map<string, string>();
  for (const dir of dirs) {
    const file = underDir(dir, ".gitignore");
    const text = context.files.has(file) ? await context.readText(file) : null;
    if (text !== null) {
      read.push(file);
      const isIgnored = createIgnore(text);
      ignores.push((path) =>
        dir === "" ? isIgnored(path) : path.startsWith(`${dir}/`) && isIgnored(path.slice(dir.length + 1)),
      );
    }
    for (const name of hostFiles) {
      const host = underDir(dir, name);
      const lines = context.files.has(host) ? await context.readText(host) : null;
      if (lines !== null) texts.set(host, lines);
    }
  }
  const bases = new Map<string, string>();
  let computed: string | null =
    model.unread === undefined ? null : `${model.unread}, so pages may have other addresses`;
  let makesIds: string | null = model.makesIds ?? null;
  const [config = ""] = model.configFiles;
  const contents = ["src/content.config.ts", "src/content/config.ts"]
    .map((name) => underDir(dirOf(config), name))
    .filter((name) => context.files.has(name));
  for (const file of [...model.configFiles, ...contents]) {
    const isHooked = /(?:^|\/)mkdocs\.ya?ml$/.test(file);
    const isScript = /(?:\.config|\.vitepress\/config(?:\/index)?)\.[cm]?[jt]s$/.test(file) || contents.includes(file);
    const text = isHooked || isScript ? ((await context.readText(file)) ?? "") : "";
    if (isHooked && /^hooks:/m.test(text)) makesIds = `hooks of \`${baseOf(file)}\``;
    if (isScript && ownPlugin.test(text)) makesIds = `a Markdown plugin of \`${baseOf(file)}\``;
    for (const [, base = ""] of isScript ? text.matchAll(namedBase) : []) bases.set(base, baseOf(file));
    const isOpen = context.evaluated === undefined || /\bcreateRedirects\b/.test(text);
    if (isScript && isOpen && computesRedirects(model, text)) {
      computed ??= `\`${baseOf(file)}\` computes its redirects, so the address may lead elsewhere`;
    }
  }
  const elsewhere: Elsewhere = {
    isIgnored: (path) => ignores.some((isIgnored) => isIgnored(path)),
    namedIn(key) {
      if (key === "") return null;
      for (const [base, file] of bases) if (key === base || isBelow(key, base)) return file;
      for (const [file, text] of texts) {
        const at = text.indexOf(`/${key}`);
        if (at >= 0 && !/[\w-]/.test(text[at + key.length + 1] ?? "")) return file;
      }
      return null;
    },
    computed,
    makesIds,
  };
  return { ...model, configFiles: [...new Set([...model.configFiles, ...read, ...texts.keys()])], elsewhere };
}
