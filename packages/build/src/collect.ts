/** Something on a page that acts, runs, or reaches another site. Equal texts are the same thing. */
export interface Found {
  kind:
    | "script"
    | "handler"
    | "address"
    | "frame"
    | "form"
    | "meta"
    | "base"
    | "noscript"
    | "link"
    | "contact"
    | "dialog"
    | "file"
    | "machine"
    | "unread";
  text: string;
  /** From here on, it is code. */
  code?: number;
}

/**
 * Source of a function for Chromium, which gets a document (or null and the text of a style sheet) and its address. It uses
 * the methods of the browser's own prototypes, because names in a form hide those of the form.
 */
export const collect = String.raw`(read, css, url) => {
  const here = new URL(url);
  // A page that went to another site has nothing of its own left.
  if (read === document && location.origin !== here.origin) return [];
  const isLive = read === document;
  const parse = (value) => { try { return new URL(value, here); } catch { return null; } };
  const found = new Map();
  // Behind a prefix comes code.
  const add = (kind, text, prefix) => found.set([kind, prefix, text].join(), { kind, text: (prefix ?? "") + text, code: prefix?.length });
  const namesOf = (one) => Element.prototype.getAttributeNames.call(one);
  const valueOf = (one, name) => Element.prototype.getAttribute.call(one, name);
  const localName = Object.getOwnPropertyDescriptor(Element.prototype, "localName").get;
  const addressed = new Set("href src action formaction data poster cite ping background longdesc manifest srcset imagesrcset archive codebase code classid to from by values".split(" "));

  const address = (value, isPicture) => {
    const to = parse(value);
    if (to === null || to.origin === here.origin) return to;
    if (/^(?:https?|wss?|ftp):$/.test(to.protocol)) add("link", to.hostname);
    else if (/^(?:mailto|tel|sms):$/.test(to.protocol) || (isPicture && /^data:image\//i.test(to.href))) return to;
    else add("address", /^(?:javascript|vbscript|data):$/.test(to.protocol) ? value.trim() : to.protocol);
    return to;
  };

  const style = (text) => {
    if (!/[:@]/.test(text)) return;
    const sheet = Document.prototype.createElement.call(document, "style");
    sheet.media = "not all";
    sheet.textContent = text;
    document.head.append(sheet);
    for (const rule of sheet.sheet?.cssRules ?? [])
      for (const [, named] of rule.cssText.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/g)) address(named, true);
    sheet.remove();
  };

  const visit = (root, all) => {
    for (const one of all.call(root, "*")) {
      const name = localName.call(one).toLowerCase();
      if (one instanceof HTMLTemplateElement || name === "template") if (one.content instanceof DocumentFragment) visit(one.content, DocumentFragment.prototype.querySelectorAll);
      if (one.shadowRoot instanceof ShadowRoot) visit(one.shadowRoot, DocumentFragment.prototype.querySelectorAll);
      for (const written of namesOf(one)) {
        const value = valueOf(one, written);
        const attribute = written.toLowerCase().replace(/^.*:/, "");
        if (attribute.startsWith("on") && (attribute in one || attribute in document.body)) add("handler", value, attribute + " ");
        if (attribute === "style" && !isLive) style("i{" + value + "}");
        if (!addressed.has(attribute)) continue;
        const parts = /srcset$/.test(attribute) ? value.split(/[\s,]+/) : attribute === "ping" ? value.split(/\s+/) : attribute === "values" ? value.split(";") : [value];
        for (const part of parts) if (part !== "") address(part, /^(?:img|source|link|image|feimage|input|video)$/.test(name));
      }
      const targetOf = (...names) => {
        const written = namesOf(one).find((each) => names.includes(each.toLowerCase()));
        return written === undefined ? null : parse(valueOf(one, written));
      };
      if (name === "script") {
        const to = targetOf("src", "href", "xlink:href");
        const isData = /^application\/(?:ld\+)?json$/i.test(valueOf(one, "type") ?? "");
        // A site's own scripts are files that no page can bring.
        if (to === null) isData || add("script", one.textContent, "");
        else if (to.origin !== here.origin || !/\.m?js$/.test(to.pathname)) add("script", to.href.replace(here.origin, ""));
      }
      if (name === "style" && !isLive) style(one.textContent);
      if (name === "noscript" && !isLive) add("noscript", one.innerHTML.trim());
      if (name === "base") add("base", valueOf(one, "href") ?? "");
      if (/^(?:iframe|frame|object|embed|applet|fencedframe|portal)$/.test(name)) {
        const to = targetOf("src", "data", "code", "codebase");
        const inside = valueOf(one, "srcdoc");
        add("frame", inside !== null ? inside : to === null ? "" : to.origin === here.origin ? to.pathname : to.hostname);
      }
      if (name === "form") {
        const to = targetOf("action");
        add("form", to === null || to.origin === here.origin ? "" : to.hostname || to.protocol);
      }
      if (name === "meta") {
        const what = (valueOf(one, "http-equiv") ?? "").toLowerCase();
        const content = valueOf(one, "content") ?? "";
        const [, to] = what === "refresh" ? /^\d+; *url=(?!["'])(\S+)$/i.exec(content) ?? [] : [];
        if (to !== undefined) address(to, false);
        else if (what !== "") add("meta", what + " " + content);
        const charset = valueOf(one, "charset");
        if (charset !== null) add("meta", "charset " + charset.toLowerCase());
      }
    }
  };

  if (read === null) style(css);
  else {
    visit(read, Document.prototype.querySelectorAll);
    // Of a drawing, these choose what else is loaded.
    const nodes = Document.prototype.createTreeWalker.call(document, read, NodeFilter.SHOW_PROCESSING_INSTRUCTION);
    while (nodes.nextNode()) add("address", nodes.currentNode.nodeValue ?? "");
  }
  return [...found.values()];
}`;

/** Uses what a reader may use: every handler and running address. */
export const useEverything = `() => {
  for (const one of document.querySelectorAll("*")) {
    for (const name of one.getAttributeNames()) if (/^on/i.test(name)) one.dispatchEvent(new Event(name.slice(2), { bubbles: false }));
    for (const url of [one.href, one.action, one.formAction]) {
      const text = typeof url === "string" ? url : url?.baseVal ?? "";
      if (/^javascript:/i.test(text)) try { (0, eval)(decodeURIComponent(text.slice(11))); } catch {}
    }
  }
}`;
