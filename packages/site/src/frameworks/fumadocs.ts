import { baseOf, dirOf, isBelow, joinPath, stripExtension, underDir } from "../links/route.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { isDocument, unlisted } from "./pages.ts";

export const fumadocs: Framework = {
  name: "fumadocs",
  marker: /(?:^|\/)source\.config\.(?:m?[jt]s|tsx)$/,
  confirm: (text) => /fumadocs-mdx/.test(text),
  load: loadFumadocs,
};

async function loadFumadocs(context: FrameworkContext, marker: string): Promise<Model | null> {
  const top = dirOf(marker);
  const text = (await context.readText(marker)) ?? "";
  const dirs = [...text.matchAll(/\bdir:\s*["'`]([^"'`]+)["'`]/g)].map(([, dir = ""]) => joinPath(top, dir) ?? dir);
  const folders = (dirs.length > 0 ? dirs : [underDir(top, "content/docs")]).filter((dir) =>
    [...context.files.keys()].some((path) => isDocument(path, dir)),
  );
  const [first] = folders;
  if (first === undefined) return null;
  const root = folders.length === 1 ? first : dirOf(first);
  const baseUrls = await readBaseUrls(context, top);
  const mdx: Dialect = { ...plainDialect, syntax: "mdx", headingIds: ["brackets"] };
  const folderOf = (path: string): string => folders.find((dir) => isBelow(path, dir)) ?? root;

  /** Folders in parentheses group files and are no part of the address; each collection may have a base of its own. */
  function routesOf(path: string): string[] {
    const folder = folderOf(path);
    const inside = stripExtension(path.slice(folder.length + 1))
      .replace(/\.[a-z]{2}(?:-[A-Za-z]{2,4})?$/, "")
      .split("/")
      .filter((part) => !/^\(.+\)$/.test(part))
      .join("/")
      .replace(/(?:^|\/)index$/, "");
    const usual = `/${baseOf(folder)}`;
    const bases = [...baseUrls].sort((a, b) => Number(b === usual) - Number(a === usual));
    return (bases.length > 0 ? bases : [usual]).map((base) =>
      `${base === "/" ? "" : base}/${inside}`.replace(/(.)\/$/, "$1"),
    );
  }

  return {
    framework: "fumadocs",
    root,
    configFiles: [marker],
    role: (path) => (folders.some((dir) => isDocument(path, dir)) ? "page" : null),
    dialect: (path) => (path.endsWith(".mdx") ? mdx : plainDialect),
    routes: routesOf,
    publicDirs: [underDir(top, "public")],
    basePath: "",
    ...unlisted,
    // Other pages of the application have addresses too; below a base only documents do, or what generators made of an API.
    // Pictures it looks for in `public`, and stops where one is missing (remark-image at ff32724).
    isGenerated: (route) =>
      !/\.(?:png|jpe?g|gif|webp|avif)$/i.test(route) &&
      (!baseUrls.some((base) => `/${route}/`.startsWith(base === "/" ? "/" : `${base}/`)) || folders.length > 1),
    checksAbsolute: "if usual",
    looseAnchors: true,
  };
}

/** `baseUrl` of each loader, wherever the application makes them. */
async function readBaseUrls(context: FrameworkContext, top: string): Promise<string[]> {
  const found = new Set<string>();
  for (const path of context.files.keys()) {
    if (
      !isBelow(path, top) ||
      !/(?:^|\/)source(?:\/index)?\.(?:m?[jt]s|tsx)$/.test(path) ||
      path.includes("node_modules/")
    )
      continue;
    for (const [, base = ""] of ((await context.readText(path)) ?? "").matchAll(/\bbaseUrl:\s*["'`]([^"'`]+)["'`]/g))
      found.add(base);
  }
  return [...found];
}
