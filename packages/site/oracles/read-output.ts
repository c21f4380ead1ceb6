import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeEntities } from "../src/parse/destination.ts";
import { askedKey, type Builder } from "./builders/builder.ts";
import type { OracleSite, PlacedLink } from "./oracle-site.ts";

/** A builder's output: files by path, and the parsed page of each HTML file. */
export interface Output {
  files: ReadonlySet<string>;
  html: ReadonlyMap<string, HtmlPage>;
  /** Responses of the builder's own server: files by `askedKey`. */
  served?: ReadonlyMap<string, string>;
}

interface HtmlPage {
  /** The path of the page's source. Null if the file shows none of our pages. */
  source: string | null;
  /** The target of a redirect page (meta refresh). */
  refresh: string | null;
  ids: ReadonlySet<string>;
  /** Ids of the level-four headings, in order. Null for a heading without id. */
  headingIds: readonly (string | null)[];
  /** `href` by the mark in the link's text. */
  hrefs: ReadonlyMap<string, string>;
  /** Marks of included files. */
  included: ReadonlySet<string>;
  /** Every link's `href`, and the target of a redirect page. */
  targets: ReadonlySet<string>;
}

const tag = /<([a-zA-Z][\w-]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>/g;

function attribute(source: string, name: string): string | null {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(source);
  return found === null ? null : decodeEntities(found[1] ?? found[2] ?? found[3] ?? "");
}

function readHtml(text: string, site: Pick<OracleSite, "framework" | "marks">): HtmlPage {
  const body = text.replace(/<(script|style|template)\b[\s\S]*?<\/\1>/gi, "");
  const ids = new Set<string>();
  const headingIds: (string | null)[] = [];
  const hrefs = new Map<string, string>();
  const targets = new Set<string>();
  let refresh: string | null = null;
  for (const found of body.matchAll(tag)) {
    const [whole, name = "", attributes = ""] = found;
    const id = attribute(attributes, "id") ?? (name === "a" ? attribute(attributes, "name") : null);
    if (id !== null && id !== "") ids.add(id);
    if (name === "h4") headingIds.push(id ?? nestedId(body, found.index + whole.length));
    if (name === "meta" && /http-equiv=["']?refresh/i.test(attributes))
      refresh = /url=(.*)$/i.exec(attribute(attributes, "content") ?? "")?.[1] ?? "";
    const alt = name === "img" ? /case-\d+-/.exec(attribute(attributes, "alt") ?? "")?.[0] : undefined;
    if (alt !== undefined) hrefs.set(alt, attribute(attributes, "src") ?? "");
    if (name !== "a") continue;
    const inside = body.slice(found.index + whole.length, body.indexOf("</a>", found.index));
    const mark = /case-\d+-/.exec(inside)?.[0];
    const href = attribute(attributes, "href");
    if (href !== null) targets.add(href);
    if (mark !== undefined && href !== null) hrefs.set(mark, href);
  }
  const content = body.replace(/<(nav|aside)\b[\s\S]*?<\/\1>/gi, "");
  const source = [...site.marks].find(([, mark]) => content.includes(mark))?.[0] ?? null;
  if (refresh !== null) targets.add(refresh);
  const included = new Set(content.match(/\bin_\w+/g));
  return { source, refresh, ids, headingIds, hrefs, included, targets };
}

/** Some builders put the id on an element inside the heading. */
function nestedId(body: string, from: number): string | null {
  const inside = body.slice(from, body.indexOf("</h4>", from));
  return attribute(inside, "id");
}

export async function readOutput(folder: string, site: Pick<OracleSite, "framework" | "marks">): Promise<Output> {
  const files = new Set<string>();
  const html = new Map<string, HtmlPage>();
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  // An untranslated page is written again for each language: its own URL is the shortest.
  for (const path of paths.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))) {
    files.add(path);
    if (path.endsWith(".html")) html.set(path, readHtml(await readFile(join(folder, path), "utf8"), site));
  }
  return { files, html };
}

/** The file that is served for a path: from the builder's own server, else as a static host would. */
function serve({ files, served }: Output, path: string, from = ""): string | null {
  if (served !== undefined) return served.get(askedKey({ path, from })) ?? null;
  let key: string;
  try {
    key = decodeURIComponent(path).replace(/^\//, "");
  } catch {
    return null;
  }
  const candidates = key === "" || key.endsWith("/") ? [`${key}index.html`] : [key, `${key}.html`, `${key}/index.html`];
  return candidates.find((candidate) => files.has(candidate)) ?? null;
}

export interface Judgement {
  verdict: "ok" | "broken" | "no anchor" | "no link";
  /** The page's source, another served file, or a redirect's target. */
  to: string | null;
  href: string | null;
}

/** What a reader gets who follows a link, as far as the output shows it. */
export function followLink(
  output: Output,
  _site: OracleSite,
  link: PlacedLink,
  pageUrl: string,
  base: string,
): Judgement {
  const page = [...output.html.values()].find(({ source }) => source === link.path);
  if (link.kind === "include")
    return { verdict: page?.included.has(link.mark) === true ? "ok" : "broken", to: null, href: null };
  const href = page?.hrefs.get(link.mark) ?? null;
  if (page === undefined || href === null) return { verdict: "no link", to: null, href };
  const url = new URL(href, `http://site${pageUrl}`);
  if (url.host !== "site" || url.protocol !== "http:") return { verdict: "ok", to: null, href };
  if (!`${url.pathname}/`.startsWith(base)) return { verdict: "broken", to: null, href };
  const file = serve(output, url.pathname.slice(base.length - 1) || "/", link.path);
  if (file === null) return { verdict: "broken", to: null, href };
  const target = output.html.get(file);
  if (file === "redirect") return { verdict: "ok", to: file, href };
  // Copied files are named by their content hash.
  if (target === undefined && /-[\da-f]{32}\.\w+$|^_downloads\//.test(file)) return { verdict: "ok", to: null, href };
  if (target === undefined) return { verdict: "ok", to: file, href };
  if (target.refresh !== null) return { verdict: "ok", to: "redirect", href };
  const id = decodeURIComponent(url.hash.slice(1));
  const isThere = id === "" || id === "top" || target.ids.has(id);
  return { verdict: isThere ? "ok" : "no anchor", to: target.source ?? file, href };
}

/** The ids of a page that a page without a block does not have. */
export function ownIds(output: Output, _site: OracleSite, path: string, empty: string): string[] {
  const pageOf = (source: string): HtmlPage | undefined =>
    [...output.html.values()].find((page) => page.source === source);
  const common = pageOf(empty)?.ids ?? new Set();
  return [...(pageOf(path)?.ids ?? [])].filter((id) => !common.has(id)).sort();
}

/** The links of a built site that point to no served file or to a missing id: page URL and target. */
export async function deadLinks(builder: Builder, folder: string, base: string): Promise<string[]> {
  const noSite = { framework: builder.framework, marks: new Map<string, string>() };
  const output = await readOutput(join(folder, builder.output ?? ""), noSite);
  const redirected = await nextRedirects(folder);
  const links = [...output.html].flatMap(([file, { targets }]) => {
    const page = `${base.slice(0, -1)}${builder.pageUrl(file)}`;
    return [...targets].map((target) => ({ page, target, url: new URL(target, `http://site${encodeURI(page)}`) }));
  });
  const own = links.filter(
    ({ url }) => url.host === "site" && url.protocol === "http:" && !redirected.has(url.pathname),
  );
  const answers = await builder.answers?.(folder, [...new Set(own.map(({ url }) => url.pathname))]);
  const dead: string[] = [];
  for (const { page, target, url } of own) {
    const isInside = `${url.pathname}/`.startsWith(base);
    const found = isInside ? serve(output, url.pathname.slice(base.length - 1) || "/") : null;
    const answer = answers?.get(url.pathname);
    const isFound = answers === undefined ? found !== null : answer !== undefined;
    const ids = answer === undefined ? output.html.get(found ?? "")?.ids : readHtml(answer, noSite).ids;
    const id = decodeURIComponent(url.hash.slice(1));
    if (!isFound || !(id === "" || id === "top" || ids === undefined || ids.has(id))) dead.push(`${page} ${target}`);
  }
  return dead.sort();
}

/** Next keeps redirects in a manifest of its own. */
async function nextRedirects(folder: string): Promise<ReadonlySet<string>> {
  const text = await readFile(join(folder, ".next/routes-manifest.json"), "utf8").catch(() => "{}");
  const { redirects = [] }: { redirects?: { source: string }[] } = JSON.parse(text);
  return new Set(redirects.map(({ source }) => source));
}
