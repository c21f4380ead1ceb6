import {
  below,
  everywhere,
  type Form,
  named,
  optional,
  order,
  orderIfBounded,
  type Reading,
  text,
  unclear,
  within,
} from "../form.ts";
import type { Instruction } from "../instruction.ts";
import type { Captures } from "../pattern.ts";

/** A quoted name could also be a term, so the word "field" is required. */
const field = "(frontmatter [field] {field:field}|field {field:field}|{field:bare})";
const links =
  "(link|links|((anchor|anchors) {!anchors})|hyperlink|hyperlinks|links and [broken] anchors|anchors and [broken] links|internal links|internal link|cross-references)";
const nowhere =
  "that (are|is) broken|that (lead|leads|point|points|go|goes) nowhere|that (lead|leads|point|points|go|goes) to nothing";
const heading = "(heading|subheading|section heading|header|section title|section)";
const ownPage =
  "((a|an|its|the) [own|new|separate|its own|new separate] page [called|named] [{to:path}]|[the] [new] page {to:path}|{to:path})";
const found = "[[that] you [can] find]";
const somewhere = `[${everywhere}|${below}]`;

export const contentForms: readonly Form[] = [
  {
    example: "fix broken links",
    patterns: [
      `fix [all|any|every|each|all of] [the|our] broken ${links} ${found} ${somewhere}`,
      `fix [all|any|every|each|all of] [the|our] (links|anchors {!anchors}|links and anchors|anchors and links) [${everywhere}|${below}]`,
      `fix [all|any|every] [the] ${links} (${nowhere}) [${everywhere}|${below}]`,
      `${within} fix [all|any|every] [the] broken ${links}`,
    ],
    read: (captures) => order(fixLinks(captures)),
  },
  {
    example: "fix broken links",
    patterns: [
      `check [all] [the|our] [whole|entire] (docs|documentation|site|pages) for [any] broken ${links}`,
      `(check|there are) [for] [all|any|some] [the] broken ${links} ${somewhere}`,
      `check ${named("under")} for [any] broken ${links}`,
    ],
    read: (captures) => ({
      kind: "look",
      instruction: fixLinks(captures),
    }),
  },
  {
    example: "fix broken links",
    patterns: [`fix (them|them all|all of them|those|any you find|what you find)`],
    read: () => ({ kind: "fix_them" }),
  },
  {
    example: 'set description of guides/auth to "How to sign requests"',
    patterns: [
      `(set|change) [the] ${field} (of|on|in|for) ${named("page")} (to|:) {value:value}`,
      `(set|change) the page (title {!titled}|description {!described}) (of|on|in|for) ${named("page")} (to|:) {value:value}`,
      `set [the] ${field} (to|:) {value:value} (of|on|in|for) ${named("page")}`,
      `give ${named("page")} (the|a|an) ${field} {value:value}`,
      `add (the|a|an) ${field} {value:value} to ${named("page")}`,
      `add {field:known} {value:value} to ${named("page")}`,
      `(set|change) the {page:page} {field:known} (to [:]|:) {value:value}`,
      "retitle [the] page {page:page} (to|as) {value:quoted} {!titled}",
      "retitle {page:path} (to|as) {value:quoted} {!titled}",
      `add (the|a) ${field} with [the] value {value:value} to ${named("page")}`,
    ],
    read: (captures) =>
      order({
        kind: "set_front_matter",
        page: text(captures, "page"),
        field: captures.has("described") ? "description" : captures.has("titled") ? "title" : text(captures, "field"),
        value: value(captures),
      }),
  },
  {
    example: "add `draft: true` to the front matter of guides/auth",
    patterns: [
      `(add|set|put) {pair:quoted} (to|in|into) the frontmatter (of|on|in|for) ${named("page")}`,
      `(in|to) the frontmatter (of|on) ${named("page")} (add|set) {pair:quoted}`,
    ],
    read: readPair,
  },
  {
    example: "remove the front matter field hidden from guides/auth",
    patterns: [
      `(delete|unset|clear) the {field:field} field (from|of|on|in) [the frontmatter (of|on|in)] ${named("page")}`,
      `(delete|unset|clear) [the] frontmatter [field] {field:field} (from|of|on|in) ${named("page")}`,
      `(delete|unset|clear) [the] field {field:field} (from|of|on|in) [the frontmatter of] ${named("page")}`,
      `(delete|unset|clear) [the] {field:known} (from|of) the frontmatter of ${named("page")}`,
      `(delete|unset|clear) [the] {field:known} (from|of|on) ${named("page")}`,
    ],
    read: (captures) =>
      order({ kind: "set_front_matter", page: text(captures, "page"), field: text(captures, "field"), value: null }),
  },
  {
    example: 'rename the heading "Setup" in guides/quickstart to "Installation"',
    patterns: [
      `retitle [the] ${heading} {from:term} (in|of|on|from) ${named("page")} (to|into|as) {to:term}`,
      `retitle the {from:quoted} ${heading} (in|of|on|from) ${named("page")} (to|into|as) {to:term}`,
      `retitle the {from:quoted} ${heading} (to|into|as) {to:term} (in|of|on) ${named("page")}`,
      `(in|on) ${named("page")} retitle the {from:quoted} ${heading} (to|into|as) {to:term}`,
      `retitle [the] ${heading} {from:term} (to|into) {to:term} (in|of|on) ${named("page")}`,
      `(in|on) ${named("page")} retitle [the] ${heading} {from:term} (to|into) {to:term}`,
    ],
    read: (captures) =>
      orderIfBounded(captures, {
        kind: "rename_heading",
        page: text(captures, "page"),
        from: bareHeading(text(captures, "from")),
        to: bareHeading(text(captures, "to")),
      }),
  },
  {
    example: 'split the section "Setup" of guides/quickstart into its own page',
    patterns: [
      `(split|break|extract|pull) [out] [the] [${heading}] {heading:term} [out] (of|from|in) ${named("page")} (into|to|as) ${ownPage}`,
      `(split|break|extract|pull) [out] the {heading:term} ${heading} [out] (of|from|in) ${named("page")} (into|to|as) ${ownPage}`,
      `make [the] ${heading} {heading:term} (of|from|in|on) ${named("page")} ${ownPage}`,
    ],
    read: (captures) => {
      const heading = bareHeading(text(captures, "heading"));
      const name = heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, "-")
        .replace(/^-+|-+$/g, "");
      const to = captures.has("to") ? text(captures, "to") : `./${name}`;
      return order({ kind: "move_section", page: text(captures, "page"), heading, to });
    },
  },
  {
    example: 'move the section "Setup" of guides/quickstart to guides/install',
    patterns: [
      `move [the] ${heading} {heading:term} (in|of|on|from) ${named("page")} (to|into) [the end of] ${named("to")}`,
      `move the {heading:quoted} ${heading} (in|of|on|from) ${named("page")} (to|into) [the end of] ${named("to")}`,
      `move [the] ${heading} {heading:quoted} (to|into) ${named("to")} from ${named("page")}`,
    ],
    read: (captures) =>
      order({
        kind: "move_section",
        page: text(captures, "page"),
        heading: bareHeading(text(captures, "heading")),
        to: text(captures, "to"),
      }),
  },
];

function fixLinks(captures: Captures): Instruction {
  return {
    kind: "fix_links",
    ...optional(captures, ["under"]),
    ...(captures.has("anchors") && { only: "anchors" as const }),
  };
}

/** A heading as people copy it from the source: `## Setup`. */
function bareHeading(written: string): string {
  return written.replace(/^#{1,6}\s+/, "");
}

/** `draft: true`, as written in the file. Values that need a YAML parser are refused. */
function readPair(captures: Captures): Reading {
  const [, field = "", written = ""] = /^([A-Za-z_][\w-]*):[ \t]+(\S.*)$/.exec(text(captures, "pair").trim()) ?? [];
  if (field === "") return unclear("it is no field with its value: write `field: value`");
  const [, quoted = null] = /^"([^"\\]*)"$|^'([^']*)'$/.exec(written)?.filter((part) => part !== undefined) ?? [];
  if (quoted === null && !/^[\p{L}\p{N}][^#:\n]*$/u.test(written) && !isNumber(written)) {
    return unclear("the value is no plain text, number, true or false: put it in quotation marks");
  }
  const page = text(captures, "page");
  return order({ kind: "set_front_matter", page, field, value: quoted ?? scalar(written) });
}

function value(captures: Captures): string | number | boolean {
  const [token] = captures.get("value") ?? [];
  const written = text(captures, "value");
  return token?.kind === "quoted" ? written : scalar(written);
}

function scalar(written: string): string | number | boolean {
  if (/^(?:true|false)$/i.test(written)) return written.toLowerCase() === "true";
  return isNumber(written) ? Number(written) : written;
}

function isNumber(written: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(written);
}
