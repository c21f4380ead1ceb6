import { decodeXML } from "entities";
import type { Parts } from "./page-parts.ts";

const svgElements = new Set(
  `svg g path rect circle ellipse line polyline polygon text tspan textPath title desc defs symbol use linearGradient
  radialGradient stop clipPath mask pattern marker filter feBlend feColorMatrix feComponentTransfer feComposite
  feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR
  feGaussianBlur feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile feTurbulence
  image switch style metadata`.split(/\s+/),
);
const svgAttribute =
  /^(?!on)(?:xml:(?:space|lang)|version|baseProfile|id|class|[a-z]+(?:-[a-z]+)*|viewBox|preserveAspectRatio|gradientUnits|gradientTransform|patternUnits|patternTransform|patternContentUnits|clipPathUnits|maskUnits|maskContentUnits|filterUnits|primitiveUnits|spreadMethod|markerWidth|markerHeight|markerUnits|refX|refY|stdDeviation|baseFrequency|numOctaves|stitchTiles|tableValues|kernelMatrix|textLength|lengthAdjust|startOffset|pathLength|xChannelSelector|yChannelSelector|surfaceScale|specularConstant|specularExponent|diffuseConstant|edgeMode|fx|fy|[xy][12]|k[1-4]|in2|result|in|data-name)$/;
/** Names of drawing programs, which browsers do not know, and what these names stand for. */
const ownPrefix = /^(?:inkscape|sodipodi|serif|sketch|vectornator|bx):[\w-]+$/;
const ownNamespace =
  /^https?:\/\/(?:www\.inkscape\.org|sodipodi\.sourceforge\.net|www\.serif\.com|www\.bohemiancoding\.com|vectornator\.io|boxy-svg\.com)\/[\w./-]*$/;

/** Addresses outside the file, and the escapes that could hide one. */
const reachesOut = /url\((?!["']?#[\w.:-]*["']?\))|@|\\|image-set|expression|script\s*:/i;

/** An SVG file, read as XML and HTML both would. Anything besides known elements and attributes is a part. */
export function readSvg(parts: Parts, text: string): void {
  const [prolog = ""] =
    /^(?:\ufeff)?\s*(?:<\?xml version="1\.[01]"(?: encoding="(?:utf-8|us-ascii)")?(?: standalone="(?:yes|no)")?\s*\?>\s*)?(?:<!--(?:(?!--)[^<>])*-->\s*)*(?:<!DOCTYPE svg PUBLIC "[^"[\]<>]*"\s+"http:\/\/www\.w3\.org\/[^"[\]<>]*"\s*>\s*)?/i.exec(
      text,
    ) ?? [];
  // What stands before the drawing can make a template of it, and a template's marks work everywhere.
  if (!text.slice(prolog.length).startsWith("<")) parts.form(text.slice(0, 200), 0);
  for (const { 0: line, index } of text.matchAll(/^.*\{[{%].*$/gm)) parts.form(line, index);
  // Names that only HTML knows.
  for (const { 0: name, index } of text.matchAll(/&(?!(?:amp|lt|gt|quot|apos|#\w+);)\w+;/g)) parts.form(name, index);
  const token =
    /<!--(?:(?!--)[^<>])*-->|<(\/?)([A-Za-z][\w:-]*)((?:\s+[\w:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+/y;
  let at = prolog.length;
  token.lastIndex = at;
  let inside = "";
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [whole, slash, name, given = "", closed] = match;
    if (name !== undefined) {
      // Titles and styles hold text alone: HTML parsers and XML parsers disagree on tags there.
      const isKnown =
        (svgElements.has(name) || ownPrefix.test(name)) && (inside === "" || (slash === "/" && name === inside));
      if (!isKnown) parts.form(whole, at);
      if (/^(?:title|desc|style|metadata)$/.test(name)) inside = slash || closed ? "" : name;
      for (const [, key = "", double, single] of given.matchAll(/([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g))
        readAttribute(key, double ?? single ?? "", at);
    } else if (whole.startsWith("<")) {
      if (inside !== "") parts.form(whole, at);
    } else if ((inside === "style" && reachesOut.test(decodeXML(whole))) || /&(?!\w{2,4};|#x?[\da-f]+;)/i.test(whole))
      parts.form(whole.trim(), at);
    at = token.lastIndex;
  }
  if (at < text.length || !/<svg[\s>]/.test(text)) parts.form(text.slice(at), at);

  function readAttribute(key: string, value: string, at: number): void {
    if (key === "href" || key === "xlink:href") {
      if (!/^#[\w.:-]*$|^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=\s]*$/.test(value))
        parts.form(`${key}="${value}"`, at);
    } else if (key.startsWith("xmlns")) {
      // Another program's name must not stand for links.
      const isOwn = ownPrefix.test(`${key.slice(6)}:a`);
      const known = /^http:\/\/www\.w3\.org\/(?:2000\/svg|1999\/xlink|XML\/1998\/namespace)$/;
      if (!/^xmlns(?::[a-z]+)?$/.test(key) || !(isOwn ? ownNamespace : known).test(value))
        parts.form(`${key}="${value}"`, at);
    } else if (!(ownPrefix.test(key) || svgAttribute.test(key)) || reachesOut.test(decodeXML(value)))
      parts.form(`${key}="${value}"`, at);
  }
}
