import type { Instruction } from "./instruction.ts";
import type { Captures } from "./pattern.ts";
import { pagesOf, textOf } from "./slots.ts";

/** What a clause means, or why its words are not enough to say. */
export type Reading =
  | { kind: "orders"; instructions: readonly Instruction[] }
  /** "list it in the navigation", where "it" is the page of the order before. */
  | { kind: "list_it"; group?: string }
  /** A greeting, or "do the following:". */
  | { kind: "nothing" }
  | { kind: "unclear"; reason: string };

export interface Form {
  /** The shortest right way to say it; shown when a clause comes near. */
  example: string;
  patterns: readonly string[];
  read(captures: Captures): Reading;
}

const everywhere =
  "(everywhere|throughout|(in|on|across|throughout) (every page|all [the|of the] pages|[all] [the|our|the whole|the entire|all the] (docs|documentation|site))) {!everywhere}";
const alsoInCode =
  "((also|even) in code [blocks|samples]|in code [blocks|samples] (too|as well)|including [in] code [blocks|samples]) {!code}";
const below =
  "[only] (in|on|under|below|within|inside) [the] [page|folder|directory|pages in|pages under] {under:page}";
const scope = `*([,] [and] (${everywhere}|${alsoInCode}|${below}))`;
const many = "[every|all|each|every occurrence of|all occurrences of] [the]";
const noun = "(term|terms|word|words|phrase|text|name|string)";
const redirect = "[[,] with a redirect [from the old (address|path|url|place)]]";
const page = "[the] [page|file]";
const navigation = "[the] (navigation|nav|sidebar|menu)";
const inGroup = "(under|in|into|below|to) [the] [group|section] {group:term}";
const place = `[${inGroup}] [before ${page} {before:page}|after ${page} {after:page}]`;

export const forms: readonly Form[] = [
  {
    example: 'replace "API token" with "access key"',
    patterns: [
      `replace ${many} [${noun}] {from:term} (with|by) {to:term} ${scope}`,
      `change ${many} [${noun}] {from:term} (to|into) {to:term} ${scope}`,
      `rename ${many} ${noun} {from:term} (to|into) {to:term} ${scope}`,
      `use {to:term} instead of {from:term} ${scope}`,
    ],
    read: (captures) => orderIfBounded(captures, replaceTerm(captures)),
  },
  {
    example: 'rename the term "API token" to "access key"',
    patterns: [`rename {from:phrase} to {to:phrase} ${scope}`],
    read(captures) {
      if (captures.has("everywhere")) return orderIfBounded(captures, replaceTerm(captures));
      const from = text(captures, "from");
      if (captures.has("under") || captures.has("code")) {
        return unclear(
          `it does not say whether "${from}" is a term or a heading: write rename the term, or rename the heading`,
        );
      }
      return orderIfBounded(captures, { kind: "rename", from, to: text(captures, "to") });
    },
  },
  {
    example: "move guides/auth to security/authentication",
    patterns: [
      `(move|relocate) [the] [page|file] {from:page} to [the] [page] {to:page} ${redirect}`,
      `(move|relocate) [the] [page|file] {from:page} (into|to the folder|to the directory|under|below|inside) [the] [folder|directory] {into:page} ${redirect}`,
      `(move|relocate) [the] (folder|directory) {!folder} {from:page} to [the] [folder|directory] {to:page} ${redirect}`,
      `rename [the] (page|file) {from:page} to {to:page} ${redirect} {!rename}`,
      `rename [the] (folder|directory) {!folder} {from:page} to {to:page} ${redirect} {!rename}`,
      `rename {from:path} to {to:page} ${redirect} {!rename}`,
    ],
    read: readMove,
  },
  {
    example: "fix broken links",
    patterns: [
      `(fix|repair|correct) [all|any|every|each|all of] [the|our] [broken|dead] (link|links|anchors|links and anchors|links and [broken|dead] anchors|anchors and links) [${everywhere}]`,
      `(fix|repair|correct) [all|any] [the] links that are broken [${everywhere}]`,
    ],
    read: () => order({ kind: "fix_links" }),
  },
  {
    example:
      'add a page guides/webhooks titled "Webhooks" with the text "…" and list it in the navigation under "Guides"',
    patterns: [
      `(add|create) [a|the] [new] page [at|called|named] {path:page} *([,] [and] (${[
        "(titled|called|named|with [the|a] title) {title:quoted}",
        "with [the|a] description {description:quoted}",
        "[the] description {description:quoted}",
        "(with|containing|saying|from|that says) [the|this] [following] [text|content|contents|body|markdown|block] [:] {content:text}",
        `[listed] (in|to) ${navigation} [${inGroup}] {!listed}`,
        `listed under [the] [group|section] {group:term} [in ${navigation}] {!listed}`,
      ].join("|")}))`,
    ],
    read: readAddPage,
  },
  {
    example: 'add guides/webhooks to the navigation under "Guides"',
    patterns: [
      `(add|list|put) ${page} {page:page} (to|in|into) ${navigation} ${place}`,
      `(add|list|put) ${page} {page:page} (to|in|into|under) [the] (navigation|nav|sidebar|menu) group {group:term}`,
      `(add|list|put) ${page} {page:page} (to|in|into) the group {group:term} (of|in) ${navigation}`,
      `list ${page} {page:page} under [the] [group|section] {group:term} [in ${navigation}]`,
      `(list|put) ${page} {page:page} (before ${page} {before:page}|after ${page} {after:page}) in ${navigation}`,
    ],
    read: (captures) =>
      order({ kind: "list_page", page: text(captures, "page"), ...optional(captures, ["group", "before", "after"]) }),
  },
  {
    example: 'list it in the navigation under "Guides"',
    patterns: [
      `(add|list|put) it (to|in|into) ${navigation} [${inGroup}]`,
      `list it under [the] [group|section] {group:term} [in ${navigation}]`,
    ],
    read: (captures) => ({ kind: "list_it", ...optional(captures, ["group"]) }),
  },
  {
    example: 'order the navigation group "Guides" as guides/start, guides/auth, guides/webhooks',
    patterns: [
      `(order|reorder|arrange) [the] [pages (of|in|under)] [the] [navigation|nav] [group|section] {group:term} ([as] [follows|like this] :|as) {pages:pages}`,
      `(order|reorder|arrange) ${navigation} ([as] [follows|like this] :|as) {pages:pages}`,
    ],
    read: (captures) =>
      order({ kind: "order_navigation", pages: pagesOf(captures.get("pages")), ...optional(captures, ["group"]) }),
  },
  {
    example: 'set description of guides/auth to "How to sign requests"',
    patterns: [
      `set [the] [front matter|front-matter|frontmatter] [field] {field:field} (of|on|in|for) ${page} {page:page} to {value:value}`,
      `set [the] [front matter|front-matter|frontmatter] [field] {field:field} to {value:value} (of|on|in|for) ${page} {page:page}`,
      `change [the] [front matter|front-matter|frontmatter] [field] {field:field} (of|on|in|for) ${page} {page:page} to {value:value}`,
      `give ${page} {page:page} the {field:field} {value:value}`,
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
    example: "add a redirect from guides/old to guides/new",
    patterns: ["(add|create) (a|the) redirect from {from:page} to {to:page}", "redirect {from:page} to {to:page}"],
    read: (captures) => order({ kind: "add_redirect", from: text(captures, "from"), to: text(captures, "to") }),
  },
  {
    example: 'rename the heading "Setup" in guides/quickstart to "Installation"',
    patterns: [
      `(rename|change) [the] heading {from:term} (in|of|on) ${page} {page:page} (to|into) {to:term}`,
      `(rename|change) [the] heading {from:term} (to|into) {to:term} (in|of|on) ${page} {page:page}`,
    ],
    read: (captures) =>
      orderIfBounded(captures, {
        kind: "rename_heading",
        page: text(captures, "page"),
        from: text(captures, "from"),
        to: text(captures, "to"),
      }),
  },
  {
    example: "do the following:",
    patterns: [
      "do (the following|this|these|these things|the following things) [:]",
      "make (these|the following) changes [:]",
      "thank you",
      "(hi|hello|hey)",
    ],
    read: () => ({ kind: "nothing" }),
  },
];

function readMove(captures: Captures): Reading {
  const from = text(captures, "from").replace(/^\.?\/+/, "");
  const into = captures.has("into") ? text(captures, "into") : null;
  const to = (into ?? text(captures, "to")).replace(/^\.?\/+/, "");
  const name = from.replace(/\/+$/, "").split("/").at(-1) ?? "";
  if (into !== null || (to.endsWith("/") && !captures.has("folder") && !from.endsWith("/"))) {
    return order({ kind: "move_page", from, to: `${to.replace(/\/+$/, "")}/${name}` });
  }
  if (captures.has("rename") && from.includes("/") && !to.includes("/")) {
    const folder = from.slice(0, from.lastIndexOf("/"));
    return unclear(`the new name has no folder: write rename ${from} to ${folder}/${to}, or move ${from} to ${to}`);
  }
  const isFolder = captures.has("folder") || from.endsWith("/");
  return order({
    kind: "move_page",
    from: isFolder ? `${from.replace(/\/+$/, "")}/` : from,
    to: to.replace(/\/+$/, ""),
  });
}

function readAddPage(captures: Captures): Reading {
  if (!captures.has("title") && !captures.has("content")) {
    return unclear('it gives the page neither a title nor a text: write titled "…", or with the text "…"');
  }
  const path = text(captures, "path");
  const add: Instruction = {
    kind: "add_page",
    path,
    content: text(captures, "content"),
    ...optional(captures, ["title", "group"]),
  };
  if (!captures.has("description")) return order(add);
  return order(add, {
    kind: "set_front_matter",
    page: path,
    field: "description",
    value: text(captures, "description"),
  });
}

function replaceTerm(captures: Captures): Instruction {
  const includeCode = captures.has("code");
  return {
    kind: "replace_term",
    from: text(captures, "from"),
    to: text(captures, "to"),
    includeCode,
    ...optional(captures, ["under"]),
  };
}

/**
 * Where a term ends must be certain. `with "access key."`: the full stop may be the sentence's. `with access key soon`:
 * without quotation marks a last word may not belong to it, so such a term has as many words as the one it replaces.
 */
function orderIfBounded(captures: Captures, instruction: Instruction): Reading {
  const [from, to] = [captures.get("from") ?? [], captures.get("to") ?? []];
  const isBare = from[0]?.kind === "word" || to[0]?.kind === "word";
  if (isBare && from.length !== to.length)
    return unclear("it is not certain where the terms end: put them in quotation marks");
  const last = text(captures, "to").at(-1) ?? "";
  const isPunctuated = to[0]?.kind === "quoted" && to[0].isPunctuated;
  if (isPunctuated || !".,;:!?".includes(last) || text(captures, "from").endsWith(last)) return order(instruction);
  return unclear(
    `the new term ends with "${last}": put it after the quotation mark, or in both terms if it belongs to them`,
  );
}

function value(captures: Captures): string | number | boolean {
  const [token] = captures.get("value") ?? [];
  const written = text(captures, "value");
  if (token?.kind === "quoted") return written;
  if (/^(?:true|false)$/i.test(written)) return written.toLowerCase() === "true";
  return /^-?\d+(?:\.\d+)?$/.test(written) ? Number(written) : written;
}

function text(captures: Captures, name: string): string {
  return textOf(captures.get(name));
}

function optional<Name extends string>(captures: Captures, names: readonly Name[]): { [key in Name]?: string } {
  return Object.fromEntries(names.filter((name) => captures.has(name)).map((name) => [name, text(captures, name)])) as {
    [key in Name]?: string;
  };
}

function order(...instructions: readonly Instruction[]): Reading {
  return { kind: "orders", instructions };
}

function unclear(reason: string): Reading {
  return { kind: "unclear", reason };
}
