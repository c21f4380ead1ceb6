// Runs inside the sandbox, and imports nothing of ours. Writes an opened page as one document without scripts: with its
// styles, pictures and fonts in it.
import { extname } from "node:path";
import { find, type Page, type Site, types } from "./browser.ts";

const bytesMax = 4 * 2 ** 20;
const oneBytesMax = 2 ** 20;

/** The page as it is now. Runs in a world of its own, which the page's scripts do not reach. */
const serialize = `() => {
  const gone = new Set(["SCRIPT", "NOSCRIPT", "TEMPLATE", "IFRAME", "FRAME", "OBJECT", "EMBED", "BASE", "LINK", "META", "STYLE", "SOURCE", "VIDEO", "AUDIO"]);
  const loaded = new Set(performance.getEntriesByType("resource").map(({ name }) => name));
  const absolute = (css, from) => css.replace(/url\\((?:"([^"]*)"|'([^']*)'|([^)"']*))\\)/g, (all, a, b, c) => {
    const written = (a ?? b ?? c ?? "").trim();
    if (/^(?:#|data:)/.test(written)) return all;
    try {
      const url = new URL(written, from).href;
      return loaded.has(url) ? 'url("' + url + '")' : "url()";
    } catch { return "url()"; }
  });
  const cssOf = (sheet) => {
    if (sheet.disabled) return "";
    let css = "";
    try {
      for (const rule of sheet.cssRules) css += (rule.styleSheet ? cssOf(rule.styleSheet) : absolute(rule.cssText, sheet.href ?? document.baseURI)) + "\\n";
    } catch { return ""; }
    const media = sheet.media.mediaText;
    return media === "" || media === "all" ? css : "@media " + media + "{" + css + "}";
  };
  const css = [...document.styleSheets, ...document.adoptedStyleSheets].map(cssOf).join("\\n");
  const copy = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || gone.has(node.tagName.toUpperCase())) return null;
    const made = node.cloneNode(false);
    for (const { name, value } of [...made.attributes]) {
      const isOwn = /^(?:xlink:)?href$/.test(name) && value.startsWith("#");
      if (name === "style") made.setAttribute(name, absolute(value, document.baseURI));
      else if (!isOwn && /^(?:on.*|src|srcset|srcdoc|(?:xlink:)?href|action|formaction|ping|poster|background|data|nonce|integrity|target)$/.test(name)) made.removeAttribute(name);
    }
    if (node.tagName === "IMG" && node.currentSrc) made.setAttribute("src", node.currentSrc);
    for (const child of node.childNodes) { const one = copy(child); if (one) made.append(one); }
    return made;
  };
  const root = copy(document.documentElement);
  const style = document.createElement("style");
  style.textContent = css;
  (root.querySelector("head") ?? root).append(style);
  return root.outerHTML;
}`;

/** Null: it cannot be written, or it is too large. */
export async function freeze({ send }: Page, site: Site, base: string, origin: string): Promise<string | null> {
  const { frameTree } = (await send("Page.getFrameTree")) as { frameTree: { frame: { id: string } } };
  const world = await send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
  const expression = `(${serialize})()`;
  const { result } = (await send("Runtime.evaluate", {
    ...{ expression, contextId: world.executionContextId, returnByValue: true },
  })) as { result: { value?: unknown } };
  if (typeof result.value !== "string") return null;
  const known = new Map<string, string>();
  let left = bytesMax - result.value.length;
  const page = result.value.replaceAll(/http:\/\/127\.0\.0\.1:\d+\/[^"'\s)<>&]*/g, (url) => {
    if (!url.startsWith(`${origin}/`)) return "";
    const data = known.get(url) ?? dataOf(find(site, base, url));
    known.set(url, data);
    left -= data.length;
    return left > 0 ? data : "";
  });
  return left > 0 ? `<!doctype html>\n${page}` : null;
}

function dataOf(found: { path: string; bytes: Buffer } | null): string {
  const type = types[extname(found?.path ?? "")]?.replace(/;.*/, "");
  // Nothing else is shown.
  if (!found || !type || !/^(?:image|font)\//.test(type) || found.bytes.byteLength > oneBytesMax) return "";
  return `data:${type};base64,${found.bytes.toString("base64")}`;
}
