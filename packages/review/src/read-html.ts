import { decodeHTML } from "entities";
import { forbidden, forbiddenAttributes, forbiddenElements, handler } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { actingElements, addressAttributes, attributes, elements, hidingClass, plainStyle } from "./schema.ts";

/** Elements whose text is no HTML: all up to the closing tag belongs to them. */
const rawElements =
  /^(?:script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|template|svg|math|object|applet|frameset|include)$/i;
const tagHead = /<(\/?)([A-Za-z][\w.:-]*)/y;
const attributePattern =
  /(?:[ \t]+|[ \t]*\n[ \t]*(?=\S))([A-Za-z_:@#][\w:@.#-]*)(?:=(?:"([^"]*)"|'([^']*)'|([\w#./:%~-]+(?=[\s>/]))))?/y;
const tagTail = /[ \t]*(?:\n[ \t]*)?(\/?)>/y;

/** Reads the tags of a piece of HTML. `all` is the whole page: an element's text may go on there. */
export function readHtml(
  parts: Parts,
  all: string,
  from: number,
  to: number,
  { isVue = false, isTemplate = false } = {},
): void {
  const opened = new Set<string>();
  for (let at = all.indexOf("<", from); at !== -1 && at < to; at = all.indexOf("<", at)) {
    at = readTag(at);
  }

  function readTag(at: number): number {
    if (all.startsWith("<!--", at)) return readComment(parts, all, at);
    if (/[!?]/.test(all[at + 1] ?? "")) {
      const end = endOf(at);
      parts.unknown("element", all.slice(at, end), at, "Browsers read this declaration in different ways.");
      return at + 2;
    }
    tagHead.lastIndex = at;
    const head = tagHead.exec(all);
    if (head === null) {
      if (/[/%]/.test(all[at + 1] ?? "")) parts.unknown("element", all.slice(at, endOf(at)), at, odd);
      return at + 1;
    }
    const [whole, slash = "", name = ""] = head;
    const given: { name: string; value: string }[] = [];
    let cursor = at + whole.length;
    for (;;) {
      attributePattern.lastIndex = cursor;
      const found = attributePattern.exec(all);
      if (found === null) break;
      cursor += found[0].length;
      given.push({ name: found[1] ?? "", value: found[2] ?? found[3] ?? found[4] ?? "" });
    }
    tagTail.lastIndex = cursor;
    const tail = tagTail.exec(all);
    const tag = all.slice(at, tail ? cursor + tail[0].length : endOf(at));
    // A line of a tag that begins like a block is one for some builders, and a blank line ends HTML for some.
    const isOdd =
      tail === null || /\n[ \t]*(?:[-+*>#`~=|:!{]|\d+[.)]|\n)/.test(tag) || (slash === "/" && given.length > 0);
    const isForbidden = slash === "" && forbiddenElements.test(name);
    if (isOdd && !isForbidden) {
      const isHandler = /[\s/"']on[a-z]+\s*=/i.test(tag);
      parts.unknown("element", tag, at, odd, isHandler ? { instead: forbidden.handler } : {});
      return at + whole.length;
    }
    if (slash === "/") {
      if (!isPlainElement(name, isVue) && !opened.has(name.toLowerCase()))
        parts.unseen("element", `${name}[]`, tag, at, { find: name });
      return at + tag.length;
    }
    opened.add(name.toLowerCase());
    const text = rawElements.test(name) ? rawText(at, tag, name) : tag;
    readElement(parts, { name, given, text, at, isVue, isTemplate });
    return at + text.length;
  }

  function endOf(at: number): number {
    const end = all.indexOf(">", at);
    return end === -1 ? Math.min(all.length, at + 500) : end + 1;
  }

  function rawText(at: number, tag: string, name: string): string {
    if (tag.endsWith("/>") && /^(?:svg|math)$/i.test(name)) return tag;
    const close = new RegExp(`</${name}[^>]*>`, "i").exec(all.slice(at + tag.length));
    return close ? all.slice(at, at + tag.length + close.index + close[0].length) : all.slice(at);
  }
}
const odd = "Builders and browsers may read this tag in different ways.";

function isPlainElement(name: string, isVue: boolean): boolean {
  // An element that HTML does not know is nothing but its text. Vue takes it for a component.
  return (
    elements.has(name) ||
    (!isVue && /^[A-Za-z]\w*$/.test(name) && !actingElements.test(name) && !forbiddenElements.test(name))
  );
}

export interface Element {
  name: string;
  given: ReadonlyArray<{ name: string; value: string | null }>;
  /** Its opening tag, or all of it if its text is no HTML. */
  text: string;
  at: number;
  isVue?: boolean;
  isTemplate?: boolean;
  isMdx?: boolean;
}

/** Judges an element by its name and its attributes' names. Values are literal: `null` is an expression, judged elsewhere. */
export function readElement(
  parts: Parts,
  { name, given, text, at, isVue = false, isTemplate = false, isMdx = false }: Element,
): void {
  const isComponent = /[A-Z.]/.test(name) && (isMdx || isVue || /^[A-Z]/.test(name));
  const more = {
    key: keyOf(
      name,
      given.map((one) => one.name),
    ),
    find: `<${name}`,
  };
  const kind = isComponent ? "component" : "element";
  if (forbiddenElements.test(name))
    return void parts.refuse("element", text, at, `<${name}> runs or replaces something.`, forbidden.element);
  let isPlain = elements.has(name) || (!isMdx && given.length === 0 && isPlainElement(name, isVue));
  let isExact = false;
  for (const { name: attribute, value } of given) {
    const lower = attribute.toLowerCase();
    const instead = lower === "srcdoc" ? forbidden.srcdoc : forbidden.handler;
    if (handler.test(attribute) || forbiddenAttributes.test(attribute))
      return void parts.refuse("attribute", text, at, `${attribute} runs code or puts it into the page.`, instead);
    if (value === null) {
      // A literal or a known expression may arrange a component. In an element of HTML it may be anything.
      if (elements.has(name) && !attributes.has(lower) && lower !== "key") isPlain = false;
      continue;
    }
    if (addressAttributes.has(lower) || /^(?:.*src|.*href|.*url|srcset)$/i.test(attribute))
      parts.address(value, at, { loads: !/^(?:href|cite|to)$/.test(lower), text });
    else parts.hosts(value, at, true);
    if (!isPlainValue(value, isTemplate, isMdx)) isExact = true;
    if (lower === "style" ? !plainStyle.test(value) : lower === "class" && hidingClass.test(value)) isPlain = false;
    const isKnown = attributes.has(lower) || addressAttributes.has(lower) || lower === "style";
    if (!isKnown && !(lower === "name" && name === "a")) isPlain = false;
  }
  if (name === "include") isExact = true;
  if (isPlain && !isExact) return;
  const reason = isExact
    ? `A value in <${name}> is not plain text.`
    : `No page of this site has <${name}> with these attributes.`;
  parts.unknown(kind, text, at, reason, isExact ? {} : more);
}

function keyOf(name: string, given: readonly string[]): string {
  return `element ${name}[${[...new Set(given)].sort().join(",")}]`;
}

function isPlainValue(value: string, isTemplate: boolean, isMdx: boolean): boolean {
  const bare = isTemplate ? value.replaceAll(/\{\{[^{}<>`]*\}\}|\{%[^{}<>`]*%\}/g, "") : value;
  if ((isMdx ? /[<\t]/ : /[<>{}\\`\t]|\n\s*\n|\]\(/).test(bare) || /&#(?!x?[\da-f]+;)/i.test(bare)) return false;
  return [...bare.matchAll(/&#?\w+;/g)].every(([one]) => /^[^<>{}\\:/]$/u.test(decodeHTML(one)));
}

/** Words that a file holds and a page does not show. What is in a comment must be plain as well: parsers end it differently. */
export function readComment(parts: Parts, all: string, at: number): number {
  const close = all.indexOf("-->", at + 4);
  const text = close === -1 ? all.slice(at) : all.slice(at, close + 3);
  const isPlain =
    /^<!--(?!-?>)(?:(?!--)[^<>{}`\\$])*-->$/.test(text) &&
    !/\]\(|(?<!https?):\/\/|^<!--\s*@|:::|\]:|~~~|#\+|8<|!\[|\n[ \t]*(?:\n[ \t]*\n|\.\.|!!!|===|\/\/\/|-{3}|\+{3})|\[\[|^<!--\s*(?:include|import|embed|insert|run|exec\w*|eval\w*|code|load|raw|csp)\b|\b(?:include|import|raw|exec|load)\s*[:(=]/i.test(
      text,
    );
  if (isPlain) parts.unknown("other", text, at, "This comment hides lines that were on the page.", { isCover: true });
  else parts.unknown("other", text, at, "Builders may end this comment in different places, or act on it.");
  return close === -1 ? all.length : close + 3;
}
