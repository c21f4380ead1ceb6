import { parseExpressionAt } from "acorn";
import type { Notes } from "./page-reading.ts";
import { isContent, nodesBelow, parsed } from "./script-nodes.ts";

interface Attribute {
  name: string;
  value: string;
}

/** Attributes that hold one address. */
const addressed =
  /^(?:href|src|action|formaction|poster|background|cite|manifest|longdesc|codebase|classid|profile|xlink:href|.+(?:url|uri|href|src))$/;
const links = /^(?:href|cite|.*(?:url|uri|href))$/;
/** `once` and `only` are no events. */
const handler = /^on(?!ce$|ly$|e$|line$)[a-z]{3,}$/i;
const inner = /^(?:srcdoc|v-html|v-text|innerhtml|outerhtml|dangerouslysetinnerhtml|html|set:html)$/i;
const scripted = /^(?:v-(?!pre$|cloak$|once$|else$|slot)|:|\.(?=[a-z])|@|x-(?:data|init|on|bind|html|effect)|\(|\[)/;
const running = /^(?:.*:)?(?:script|base|applet|frame|frameset|portal|handler)$/;

/** One element of a page, in HTML or in JSX. */
export function readTag(notes: Notes, tag: string, attributes: readonly Attribute[], at: number): void {
  const written = `<${tag}${attributes.map(({ name, value }) => ` ${name}="${value}"`).join("")}>`;
  if (running.test(tag.toLowerCase())) notes.code(written, `a <${tag}> element`, at);
  for (const { name, value } of attributes) readAttribute(notes, tag.toLowerCase(), { name, value }, at);
}

export function readAttribute(notes: Notes, tag: string, { name, value }: Attribute, at: number): void {
  const plain = name.toLowerCase();
  if (inner.test(plain)) return void notes.code(`${name}="${value}"`, `the attribute ${name}`, at);
  if (handler.test(plain)) return void notes.code(`${name}="${value}"`, `the event handler ${name}`, at);
  if (tag === "meta" && plain === "http-equiv") return void notes.code(`${name}="${value}"`, "a <meta> directive", at);
  if (scripted.test(plain) && value !== "") return void readTemplateExpression(notes, value, at);
  const isAddress = addressed.test(plain) || (tag === "object" && plain === "data");
  if (isAddress) notes.address(value, at, { loads: !links.test(plain) });
  // Browsers drop these inside of an address.
  else for (const read of new Set([value, value.replaceAll(/[\t\r\n]/g, "")])) notes.value(read, at);
}

/** Beyond the page: what a template must not look up. */
const outerNames =
  /^(?:process|global|globalThis|window|self|document|env|environ|environment|os|config|import|require)$/;

/** An expression of a template's: of Vue, Jinja, Liquid, Nunjucks or Handlebars, as far as they are like JavaScript. */
export function readTemplateExpression(notes: Notes, source: string, at: number): void {
  const node = parsed(() => parseExpressionAt(`(${source}\n)`, 0, { ecmaVersion: "latest" }));
  const isPlain = node !== null && isContent(node, { isKnown: (name) => !outerNames.test(name), isTemplate: true });
  if (!isPlain) return void notes.code(source, "an expression that is not a literal or a name", at);
  for (const inner of nodesBelow(node)) if (typeof inner.value === "string") notes.value(inner.value, at);
}
