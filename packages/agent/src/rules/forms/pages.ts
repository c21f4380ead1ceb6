import {
  type Form,
  given,
  isFolder,
  isGroup,
  isPage,
  isPathLike,
  isSingle,
  isSurelyPage,
  optional,
  order,
  type Picked,
  page,
  pageText,
  type Reading,
  several,
  slot,
  text,
  unclear,
  way,
} from "../form.ts";
import type { Frame, Thing } from "../frame.ts";
import type { Instruction } from "../instruction.ts";

const withRedirect = "redirect path page links";
/** Called a folder, or one of the site that is no page too. */
const isKnownFolder = (thing: Thing) =>
  isSingle(thing) &&
  (["folder", "section"].includes(thing.noun) ||
    (thing.noun === "" && thing.meaning?.isFolder === true && thing.meaning.pages.length === 0));
/** Where a page goes: not what only the navigation has. */
const isTarget = (thing: Thing) =>
  isSingle(thing) &&
  ["", "page"].includes(thing.noun) &&
  !isKnownFolder(thing) &&
  !(thing.meaning?.isGroup && !thing.meaning.isFolder);
const was = optional(slot("insteadof", isFolder));
const isFolderPath = (thing: Thing) => isSingle(thing) && thing.text.endsWith("/");
const isPath = (thing: Thing) => isSingle(thing) && isPathLike(thing.text);
const isKnownPage = (thing: Thing) => isPath(thing) || (isPage(thing) && thing.meaning?.pages.length === 1);
const named = (thing: Thing) => isPage(thing) && thing.noun === "page";

export const pageForms: readonly Form[] = [
  {
    example: "move {page:guides/auth} to security/authentication",
    ways: [
      way(`move ? ${withRedirect}`, { from: slot("-", isPage), to: slot("to", isTarget) }),
      way(`move|put ? ${withRedirect}`, { from: several(slot("-", isPage)), into: slot("into", isFolder) }),
      way(`move|put ? ${withRedirect}`, {
        from: several(slot("-", isPage)),
        into: slot("to under in into", isKnownFolder),
        was,
      }),
      way(`move ? ${withRedirect}`, { from: several(slot("-", isPage)), into: slot("under", isFolder) }),
      way(`move ? ${withRedirect}`, { from: several(slot("-", isPage), 2), into: slot("to", isFolder) }),
      way(`put ? ${withRedirect}`, { from: slot("-", isPath), into: slot("in under", isFolderPath) }),
      way(`move|rename ? ${withRedirect}`, {
        folder: slot("-", (thing) => isSingle(thing) && thing.noun === "folder"),
        to: slot("to as", isFolder),
      }),
      way(`move everything ? ${withRedirect}`, {
        folder: slot("- in under from of into", isFolder),
        to: slot("to into", isFolder),
      }),
      way("move", { from: slot("-", isPath), second: slot("-", isPath) }),
      way("", { from: slot("-", isPath), to: slot("arrow", isPath) }),
      way(`rename ? ${withRedirect}`, { from: slot("-", named), to: slot("to as", isTarget) }),
      way(`rename ? ${withRedirect}`, { from: slot("-", isPath), to: slot("to as", isTarget) }),
      way(`path ? ${withRedirect}`, { from: slot("of", isKnownPage), to: slot("become", isPath) }),
      way(`change path ? ${withRedirect}`, { from: slot("of", isKnownPage), to: slot("to", isPath) }),
    ],
    read: readMove,
  },
  {
    example: "delete {page:guides/old} and redirect it to {other:guides/new}",
    ways: [
      way("delete ? page", { page: several(slot("-", isSurelyPage)), to: slot("favour arrow", isPage) }),
      way("delete redirect ? page readers it", { page: several(slot("-", isSurelyPage)), to: slot("to", isPage) }),
    ],
    read: (picked) =>
      order(
        ...(picked.get("page") ?? []).map((one) => ({
          kind: "remove_page" as const,
          page: pageText(one),
          to: page(picked, "to"),
        })),
      ),
  },
  {
    example: "delete {page:guides/old} and redirect it to {other:guides/new}",
    ways: [way("delete ? page site entry", { page: several(slot("-", isSurelyPage)) })],
    read: (picked) => ({ kind: "delete", pages: (picked.get("page") ?? []).map(pageText) }),
  },
  {
    example: "delete {page:guides/old} and redirect it to {other:guides/new}",
    ways: [
      way("redirect ? it path readers page only", { to: slot("to", isPage) }),
      way("add redirect ? it path", { to: slot("to", isPage) }),
    ],
    read: (picked) => ({ kind: "redirect_it", to: page(picked, "to") }),
  },
  {
    example: "move {page:guides/auth} to security/authentication",
    ways: [
      way("change|redirect links ? anchors only"),
      way("change|fix|redirect links it ? anchors also"),
      way("change|redirect links ? anchors also", {
        anchor: slot("to", ({ text: written }) => written.startsWith("#")),
      }),
      way("change|fix everything links it"),
    ],
    read: () => ({ kind: "with_links" }),
  },
  {
    example: 'add a page guides/webhooks titled "Webhooks"',
    ways: [
      way("add|make|write ? page navigation own", {
        path: optional(slot("- at called in as", isNewPath)),
        title: optional(slot("called with - in", isTitle)),
        description: optional(slot("with - called", ({ kind, noun }) => kind === "quoted" && noun === "description")),
        content: optional(slot("with saying from - to", isContent)),
        folder: optional(slot("in under into to", isKnownFolder)),
        group: optional(slot("under in into to", isGroup)),
      }),
    ],
    read: readAddPage,
  },
  {
    example: "add a redirect from old/page to {page:guides/new}",
    ways: [
      way("add redirect ? page", { from: slot("from -", isSingle), to: slot("to", isPage) }),
      way("add redirect redirect ? page", { from: slot("-", isSingle), to: slot("to", isPage) }),
      way("redirect ? readers page path", { from: slot("- from", isSingle), to: slot("to", isPage) }),
      way("make redirect ? page", { from: slot("-", isSingle), to: slot("to at", isPage) }),
      way("redirect", { from: slot("-", isPath), to: slot("to at", isPage) }),
    ],
    read: (picked) => order({ kind: "add_redirect", from: pathOf(page(picked, "from")), to: page(picked, "to") }),
  },
];

function isNewPath(thing: Thing): boolean {
  if (!isPage(thing)) return false;
  return isPathLike(thing.text) || (thing.kind === "bare" && thing.noun === "page" && !/\p{Lu}/u.test(thing.text));
}

function isTitle({ kind, text: written, noun, role, meaning }: Thing): boolean {
  // "the Changes page" of a site that has one is no new page.
  if (noun === "page" && (meaning?.pages.length ?? 0) > 0) return false;
  const isName = kind === "quoted" || (kind === "bare" && /^\p{Lu}/u.test(written));
  return isName && (noun === "title" || noun === "page" || (role === "called" && noun === ""));
}

function isContent({ kind, noun, role }: Thing): boolean {
  return (
    ["quoted", "fence"].includes(kind) &&
    (kind === "fence" || noun === "text" || role === "saying" || (role === "with" && noun === ""))
  );
}

/** The path of an address. */
function pathOf(address: string): string {
  return address.replace(/^https?:\/\/[^/]+/, "");
}

function readMove(picked: Picked, frame: Frame): Reading {
  const froms = picked.get("folder") ?? picked.get("from") ?? [];
  const [was] = picked.get("was") ?? [];
  const isThere = (path: string) => `/${path}`.includes(`/${was?.text.replaceAll(/^\/+|\/+$/g, "")}/`);
  if (was && !froms.every((from) => isThere(pageText(from))))
    return unclear(`it is not certain that it is in ${was.text}`);
  const readings = froms.map((from) => readOneMove(from, picked, frame));
  const failed = readings.find((reading) => reading.kind !== "orders");
  return failed ?? order(...readings.flatMap((reading) => (reading.kind === "orders" ? reading.instructions : [])));
}

function readOneMove(thing: Thing, picked: Picked, { words }: Frame): Reading {
  const from = pageText(thing).replace(/^\.?\/+/, "");
  const target = picked.get("into")?.[0];
  const to = (target ?? picked.get("to")?.[0] ?? picked.get("second")?.[0])?.text.replace(/^\.?\/+/, "") ?? "";
  const name = from.replace(/\/+$/, "").split("/").at(-1) ?? "";
  // `/a/b/` is an address, `b/` a folder.
  const isAddress = /^\/.+\/.+\/$/.test(picked.get("to")?.[0]?.text ?? "");
  if (target || (to.endsWith("/") && !isAddress && !picked.has("folder") && !from.endsWith("/"))) {
    const into = to.replace(/\/+$/, "");
    // A title is not the name of its file.
    const isTitle = /[\s\p{Lu}]/u.test(from) && !from.includes("/");
    return order({ kind: "move_page", from, to: `${into}/${name}`, ...(isTitle && { into }) });
  }
  if (words.includes("rename") && from.includes("/") && !to.includes("/") && !picked.has("folder")) {
    const parent = from.slice(0, from.lastIndexOf("/"));
    return unclear(`the new name has no folder: write rename ${from} to ${parent}/${to}, or move ${from} to ${to}`);
  }
  const isWhole = picked.has("folder") || from.endsWith("/");
  return order({
    kind: "move_page",
    from: isWhole ? `${from.replace(/\/+$/, "")}/` : from,
    to: to.replace(/\/+$/, ""),
  });
}

function readAddPage(picked: Picked): Reading {
  const heading = picked.get("title")?.[0]?.text;
  const folder = picked.get("folder")?.[0]?.text.replace(/\/+$/, "");
  const inFolder = folder !== undefined && heading !== undefined ? `${folder}/${slug(heading)}` : undefined;
  const path = picked.get("path")?.[0]?.text ?? inFolder;
  if (path === undefined || (inFolder !== undefined && picked.has("path")))
    return unclear(`it does not say where: write add a page guides/name titled "${heading ?? "…"}"`);
  if (heading === undefined && !picked.has("content")) {
    return unclear('it gives the page neither a title nor a text: write titled "…", or with the text "…"');
  }
  const add: Instruction = {
    kind: "add_page",
    path,
    content: text(picked, "content"),
    ...(heading !== undefined && { title: heading }),
    ...given(picked, ["group"]),
  };
  if (!picked.has("description")) return order(add);
  return order(add, {
    kind: "set_front_matter",
    page: path,
    field: "description",
    value: text(picked, "description"),
  });
}

/** A file name for a title. */
export function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
}
