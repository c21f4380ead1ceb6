import { type Form, named, navigation, optional, order, page, type Reading, text, unclear } from "../form.ts";
import type { Instruction } from "../instruction.ts";
import type { Captures } from "../pattern.ts";
import { pagesOf } from "../slots.ts";
import { inGroup } from "./navigation.ts";

const redirect =
  "[[,] (with|and|leaving|including|keeping|adding) (a redirect|redirects|the redirect) [(from|at) (the|its) old (address|path|url|place|location|link)]]";
const places = "(in|under|below|from|of|inside)";
const folder = (name: string) => `[the] [folder] {${name}:page}`;
const obsolete = "[the] [old|outdated|obsolete|unused] page";
const fromDocs = "[from the (docs|documentation|site)]";
const entry = "[(along|together) with its navigation entry]";

export const pageForms: readonly Form[] = [
  {
    example: "move guides/auth to security/authentication",
    patterns: [
      `move ${named("from")} [over] to [the] [page|path] {to:page} ${redirect}`,
      `(move|put) ${named("from")} (into|inside|inside of) ${folder("into")} ${redirect}`,
      `(move|put) ${named("from")} (to|under|in|into) (the folder {into:page}|the {into:page} (folder|section)) ${redirect}`,
      `move ${named("from")} (under|below) {into:page} ${redirect}`,
      `put ${page} {from:path} (in|under|below) {into:folder} ${redirect}`,
      `(move|rename) ([the] [whole|entire] folder {!folder} {from:page}|the {from:page} folder {!folder}) (to|as) ${folder("to")} ${redirect}`,
      `move (all|all the|all of the|every) (page|pages|files) ${places} ${folder("from")} {!folder} (to|into) ${folder("to")} ${redirect}`,
      `move (everything|all) ${places} ${folder("from")} {!folder} (to|into|over to) ${folder("to")} ${redirect}`,
      `mv {from:path} {to:path}`,
      `[rename|move] {from:path} (→|->|=>) {to:path}`,
      `rename [the] page {from:page} (to|as) {to:page} ${redirect} {!rename}`,
      `rename {from:path} (to|as) {to:page} ${redirect} {!rename}`,
      `change [the] (path|address|url|location|place) of ${page} {from:path} to {to:path} ${redirect}`,
    ],
    read: readMove,
  },
  {
    example: "move guides/auth and guides/send to security",
    patterns: [
      `move [the] [pages] {pages:several} [pages] (to|into|under|below) [the] [folder|section] {into:page} [folder|section] ${redirect}`,
    ],
    read: (captures) =>
      order(
        ...pagesOf(captures.get("pages")).flatMap((from) => {
          const moved = readMove(
            new Map([
              ...captures,
              ["from", [{ kind: "quoted", text: from, isPunctuated: true, start: 0, end: 0 } as const]],
            ]),
          );
          return moved.kind === "orders" ? moved.instructions : [];
        }),
      ),
  },
  {
    example: "delete guides/old and redirect it to guides/new",
    patterns: [
      `delete (${obsolete} {page:page}|the {page:page} page|the {page:phrase} page|{page:path}) [,] (favour|with a redirect to|redirecting [it|readers] to|leaving a redirect to) ${named("to")}`,
    ],
    read: (captures) => order({ kind: "remove_page", page: text(captures, "page"), to: text(captures, "to") }),
  },
  {
    example: "delete guides/old and redirect it to guides/new",
    patterns: [
      `delete (${obsolete} {page:page}|the {page:page} page|the {page:phrase} page) ${fromDocs} ${entry}`,
      `delete {page:path} ${fromDocs} ${entry}`,
    ],
    read: (captures) => ({ kind: "delete", page: text(captures, "page") }),
  },
  {
    example: "delete guides/old and redirect it to guides/new",
    patterns: [
      `redirect [it|its address|its old address|its path|its url|the old address|the old path|readers|its readers|the readers] to ${named("to")} [instead]`,
      `add a redirect [from it|from there|from its old address|from the old address] to ${named("to")}`,
      `send [its|the] readers to ${named("to")} [instead]`,
    ],
    read: (captures) => ({ kind: "redirect_it", to: text(captures, "to") }),
  },
  {
    example: "move guides/auth to security/authentication",
    patterns: [
      "(update|adjust) [all|every|any] [the|its] [inbound|internal] (link|links|references|links and anchors|anchors|reference)",
      "(update|fix|adjust) [all|every|any] [the] [inbound|internal] (link|links|references|reference) (to it|to them|that point to it|pointing to it|accordingly)",
      "(update|fix|adjust) (everything|all pages|every page|whatever|all that) that (links|link|points|refers) to (it|them)",
    ],
    read: () => ({ kind: "with_links" }),
  },
  {
    example: 'add a page guides/webhooks titled "Webhooks"',
    patterns: [
      "add (a|an|the) [new|brand-new] [empty|blank] page [called|titled|named] {title:quoted} (at|in|as) {path:path}",
      "add an (empty|blank) page [at] {path:path} (called|titled|named) {title:quoted}",
    ],
    read: readAddPage,
  },
  {
    example:
      'add a page guides/webhooks titled "Webhooks" with the text "…" and list it in the navigation under "Guides"',
    patterns: [
      `add [a|the] [new|brand-new] page [at|called|named] {path:page} *([,] [and] (${[
        "(titled|called|named|entitled|(with|and) [the|a] title) {title:quoted}",
        "[the|a] title {title:quoted}",
        "(with|and) [the|a] description {description:quoted}",
        "[the|a] description {description:quoted}",
        "(with|containing|saying|from|that says|that reads|reading) [the|this] [following] [text|content|contents|body|markdown|block] [:] {content:text}",
        "[the] (text|content|body) [:] {content:text}",
        `[listed] (in|to) ${navigation} [${inGroup}] {!listed}`,
        `listed under [the] [group|section] {group:term} [in ${navigation}] {!listed}`,
      ].join("|")}))`,
    ],
    read: readAddPage,
  },
  {
    example: "add a redirect from guides/old to guides/new",
    patterns: [
      "add (a|the) redirect from {from:page} to {to:page}",
      "(redirect|forward) {from:page} to {to:page}",
      "add (a|the) redirect to {to:page} from {from:page}",
      "make {from:page} (redirect|point|lead) (to|at) {to:page}",
      "point {from:path} (to|at) {to:page}",
      "(redirect|send) readers from {from:page} to {to:page}",
    ],
    read: (captures) => order({ kind: "add_redirect", from: text(captures, "from"), to: text(captures, "to") }),
  },
];

function readMove(captures: Captures): Reading {
  const from = text(captures, "from").replace(/^\.?\/+/, "");
  const into = captures.has("into") ? text(captures, "into") : null;
  const to = (into ?? text(captures, "to")).replace(/^\.?\/+/, "");
  const name = from.replace(/\/+$/, "").split("/").at(-1) ?? "";
  if (into !== null || (to.endsWith("/") && !captures.has("folder") && !from.endsWith("/"))) {
    const place = to.replace(/\/+$/, "");
    // A title is not the name of its file.
    const isTitle = /[\s\p{Lu}]/u.test(from) && !from.includes("/");
    return order({ kind: "move_page", from, to: `${place}/${name}`, ...(isTitle && { into: place }) });
  }
  if (captures.has("rename") && from.includes("/") && !to.includes("/")) {
    const parent = from.slice(0, from.lastIndexOf("/"));
    return unclear(`the new name has no folder: write rename ${from} to ${parent}/${to}, or move ${from} to ${to}`);
  }
  const isFolder = captures.has("folder") || from.endsWith("/");
  return order({
    kind: "move_page",
    from: isFolder ? `${from.replace(/\/+$/, "")}/` : from,
    to: to.replace(/\/+$/, ""),
  });
}

function readAddPage(captures: Captures): Reading {
  const isTitle = /[\s\p{Lu}]/u.test(text(captures, "path"));
  if (isTitle && !captures.has("title")) {
    return unclear(`it does not say where: write add a page guides/name titled "${text(captures, "path")}"`);
  }
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
