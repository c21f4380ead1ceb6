// Runs inside the sandbox, and imports nothing of ours. Writes an opened page as one document without scripts: with its
// styles, pictures and fonts in it.
import { extname } from "node:path";
import { find, type Page, type Site, types } from "./browser.ts";

interface Written {
  html: string;
  /** A style sheet of the site by its address, or its text. In the page's order, and imported ones first. */
  sheets: { href: string | null; css: string; media: string }[];
  /** What the page has loaded. */
  loaded: string[];
  base: string;
}

const bytesMax = 4 * 2 ** 20;
const oneBytesMax = 2 ** 20;
const stylesMark = "emend-styles";

/**
 * The page as it is now. Runs in a world of its own, which the page's scripts do not reach. Style sheets are not written as
 * the browser has parsed them: it loses what stands behind a variable.
 */
const serialize = `() => {
  const gone = new Set(["SCRIPT", "NOSCRIPT", "TEMPLATE", "IFRAME", "FRAME", "OBJECT", "EMBED", "BASE", "LINK", "META", "STYLE", "SOURCE", "VIDEO", "AUDIO"]);
  const sheets = [];
  const take = (sheet) => {
    if (sheet.disabled) return;
    try {
      const rules = [...sheet.cssRules];
      for (const { styleSheet } of rules) if (styleSheet) take(styleSheet);
      const css = sheet.href ? "" : sheet.ownerNode?.textContent || rules.map(({ cssText }) => cssText).join("\\n");
      sheets.push({ href: sheet.href, css, media: sheet.media.mediaText });
    } catch {}
  };
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) take(sheet);
  const copy = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || gone.has(node.tagName.toUpperCase())) return null;
    const made = node.cloneNode(false);
    for (const { name, value } of [...made.attributes]) {
      const isOwn = /^(?:xlink:)?href$/.test(name) && value.startsWith("#");
      if (!isOwn && /^(?:on.*|src|srcset|srcdoc|(?:xlink:)?href|action|formaction|ping|poster|background|data|nonce|integrity|target)$/.test(name)) made.removeAttribute(name);
    }
    if (node.tagName === "IMG" && node.currentSrc) made.setAttribute("src", node.currentSrc);
    for (const child of node.childNodes) { const one = copy(child); if (one) made.append(one); }
    return made;
  };
  const root = copy(document.documentElement);
  (root.querySelector("head") ?? root).append("${stylesMark}");
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  return { html: root.outerHTML, sheets, loaded, base: document.baseURI };
}`;

/** Null: it cannot be written, or it is too large. */
export async function freeze({ send }: Page, site: Site, base: string, origin: string): Promise<string | null> {
  const { frameTree } = (await send("Page.getFrameTree")) as { frameTree: { frame: { id: string } } };
  const world = await send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  const { result } = (await send("Runtime.evaluate", {
    ...{ expression: `(${serialize})()`, contextId: world.executionContextId, returnByValue: true },
  })) as { result: { value?: Written } };
  if (!result.value) return null;
  const { html, sheets, loaded, base: from } = result.value;
  const own = new Set(loaded.filter((url) => url.startsWith(`${origin}/`)));
  const known = new Map<string, string>();
  /** The file that the page has loaded from there. Each is counted as often as it is shown. */
  const dataOf = (url: string | undefined): string => {
    if (url === undefined || !own.has(url)) return "";
    const data = known.get(url) ?? dataUrl(find(site, base, url));
    known.set(url, data);
    return data;
  };
  const inlined = (css: string, at: string) =>
    css.replaceAll(
      /url\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^)"'\s]*))\s*\)/g,
      (all, double?: string, single?: string, bare?: string) => {
        const written = double ?? single ?? bare ?? "";
        return /^(?:#|data:)/.test(written) ? all : `url("${dataOf(URL.parse(written, at)?.href)}")`;
      },
    );
  const styles = sheets.map(({ href, css, media }) => {
    const text = href === null ? css : (find(site, base, href)?.bytes.toString() ?? "");
    const whole = inlined(text.replaceAll(/@(?:charset|import)\b[^;]*;/g, ""), href ?? from);
    return media === "" || media === "all" ? whole : `@media ${media} {\n${whole}\n}`;
  });
  const page = html
    .replaceAll(/ style="([^"]*)"/g, (_, css: string) => ` style="${quoted(inlined(unquoted(css), from))}"`)
    .replaceAll(/ src="([^"]*)"/g, (_, url: string) => ` src="${dataOf(unquoted(url))}"`)
    .replace(stylesMark, () => `<style>${styles.join("\n").replaceAll("</", "<\\/")}</style>`);
  return page.length <= bytesMax ? `<!doctype html>\n${page}` : null;
}

const unquoted = (text: string) => text.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
const quoted = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

function dataUrl(found: { path: string; bytes: Buffer } | null): string {
  const type = types[extname(found?.path ?? "")]?.replace(/;.*/, "");
  // Nothing else is shown.
  if (!found || !type || !/^(?:image|font)\//.test(type) || found.bytes.byteLength > oneBytesMax) return "";
  return `data:${type};base64,${found.bytes.toString("base64")}`;
}
