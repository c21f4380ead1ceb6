import { below, everywhere, type Form, optional, order, orderIfBounded, page, text, within } from "../form.ts";
import type { Captures } from "../pattern.ts";

const frontMatter = "(front matter|front-matter|frontmatter|metadata)";
/** In quotation marks it could as well be a term: then the words say that it is a field. */
const field = `(${frontMatter} [field] {field:field}|field {field:field}|{field:bare})`;
const links =
  "(link|links|anchor|anchors|hyperlink|hyperlinks|links and [broken|dead] anchors|anchors and [broken|dead] links|internal links|internal link|cross-references)";
const bad = "(broken|dead|invalid)";
const fix = "(fix|repair|correct|mend)";
const heading = "(heading|section heading|header|section title)";

export const contentForms: readonly Form[] = [
  {
    example: "fix broken links",
    patterns: [
      `${fix} [all|any|every|each|all of] [the|our] ${bad} ${links} [${everywhere}|${below}]`,
      `${fix} [all|any|every|each|all of] [the|our] (links|anchors|links and anchors|anchors and links) [${everywhere}|${below}]`,
      `${fix} [all|any|every] [the] ${links} that (are|is) ${bad} [${everywhere}|${below}]`,
      `${within} ${fix} [all|any|every] [the] ${bad} ${links}`,
    ],
    read: (captures) => order({ kind: "fix_links", ...optional(captures, ["under"]) }),
  },
  {
    example: 'set description of guides/auth to "How to sign requests"',
    patterns: [
      `(set|change|update) [the] ${field} (of|on|in|for) ${page} {page:page} to {value:value}`,
      `set [the] ${field} to {value:value} (of|on|in|for) ${page} {page:page}`,
      `give ${page} {page:page} (the|a|an) ${field} {value:value}`,
      `add (the|a|an) ${field} {value:value} to ${page} {page:page}`,
      `add (the|a) ${field} with [the] value {value:value} to ${page} {page:page}`,
    ],
    read: (captures) =>
      order({
        kind: "set_front_matter",
        page: text(captures, "page"),
        field: text(captures, "field"),
        value: value(captures),
      }),
  },
  {
    example: "remove the front matter field hidden from guides/auth",
    patterns: [
      `(remove|delete|drop|unset|clear) [the] ${frontMatter} [field] {field:field} (from|of|on|in) ${page} {page:page}`,
      `(remove|delete|drop|unset|clear) [the] field {field:field} (from|of|on|in) [the front matter of] ${page} {page:page}`,
      `(remove|delete|drop|unset|clear) [the] {field:known} (from|of) the ${frontMatter} of ${page} {page:page}`,
      `(remove|delete|drop|unset|clear) [the] {field:known} (from|of|on) ${page} {page:page}`,
    ],
    read: (captures) =>
      order({ kind: "set_front_matter", page: text(captures, "page"), field: text(captures, "field"), value: null }),
  },
  {
    example: 'rename the heading "Setup" in guides/quickstart to "Installation"',
    patterns: [
      `(rename|change|retitle|update) [the] ${heading} {from:term} (in|of|on|from) ${page} {page:page} (to|into) {to:term}`,
      `(rename|change|retitle|update) [the] ${heading} {from:term} (to|into) {to:term} (in|of|on) ${page} {page:page}`,
      `(in|on) ${page} {page:page} (rename|change|retitle) [the] ${heading} {from:term} (to|into) {to:term}`,
    ],
    read: (captures) =>
      orderIfBounded(captures, {
        kind: "rename_heading",
        page: text(captures, "page"),
        from: text(captures, "from"),
        to: text(captures, "to"),
      }),
  },
];

function value(captures: Captures): string | number | boolean {
  const [token] = captures.get("value") ?? [];
  const written = text(captures, "value");
  if (token?.kind === "quoted") return written;
  if (/^(?:true|false)$/i.test(written)) return written.toLowerCase() === "true";
  return /^-?\d+(?:\.\d+)?$/.test(written) ? Number(written) : written;
}
