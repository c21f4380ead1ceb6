import {
  type Form,
  inPlaces,
  isFolder,
  isPage,
  isPathLike,
  isQuoted,
  isSingle,
  optional,
  order,
  orderIfBounded,
  type Picked,
  page,
  pageText,
  place,
  type Reading,
  several,
  slot,
  text,
  unclear,
  way,
} from "../form.ts";
import type { Thing } from "../frame.ts";
import type { Instruction } from "../instruction.ts";
import { slug } from "./pages.ts";

const ofPage = (roles: string) => slot(roles, isPage);
const ofPages = (roles: string) => several(slot(roles, isPage));
const headingNouns = ["heading", "section"];
const calledHeading = (thing: Thing) =>
  thing.kind !== "path" && thing.kind !== "fence" && headingNouns.includes(thing.noun);
/** A heading of the site, and nothing else there. */
const isKnownHeading = ({ kind, meaning }: Thing) =>
  kind !== "path" && (meaning?.headingOf.length ?? 0) > 0 && meaning?.pages.length === 0 && !meaning.isFolder;
const isHeading = (thing: Thing) =>
  !thing.isField && ["quoted", "bare"].includes(thing.kind) && ["", ...headingNouns].includes(thing.noun);
const isField = (thing: Thing) => thing.isField || thing.noun === "field";
const isFieldValue = (thing: Thing) =>
  (thing.kind === "quoted" || bareValue.test(thing.text)) && fieldOf(thing) !== null;
/** A title or a label without quotation marks, up to the end. */
const isName = ({ kind, text: written, noun }: Thing) => kind === "bare" && noun === "" && /^\p{Lu}/u.test(written);
const isValue = (thing: Thing) =>
  isQuoted(thing) || isName(thing) || (thing.noun !== "page" && bareValue.test(thing.text));
const bareValue = /^(?:-?\d+(?:\.\d+)?|true|false|\d{4}-\d{2}-\d{2})$/i;

export const contentForms: readonly Form[] = [
  {
    example: "fix broken links",
    ways: [way("fix links|anchors ? links anchors broken site only it", { under: place })],
    read: (picked, { words }) => order(...fixLinks(picked, words)),
  },
  {
    example: "fix broken links",
    ways: [
      way("check broken links|anchors ? links anchors site", {
        under: optional(slot("- in under", (thing) => isPage(thing) || isFolder(thing))),
      }),
    ],
    read: (picked, { words }) => ({ kind: "look", instructions: fixLinks(picked, words) }),
  },
  {
    example: "fix broken links",
    ways: [way("anchors|links broken ? site", { under: place })],
    read: (picked, { words }) => ({ kind: "look", instructions: fixLinks(picked, words) }),
  },
  {
    example: "fix broken links",
    ways: [way("only anchors")],
    read: () => ({ kind: "keeps", what: "links" }),
  },
  {
    example: "fix broken links",
    ways: [way("fix it")],
    read: () => ({ kind: "fix_them" }),
  },
  {
    example: "renew screenshots",
    ways: [way("renew ? site")],
    read: () => order({ kind: "renew_screenshots" }),
  },
  {
    example: 'set description of {page:guides/auth} to "How to sign requests"',
    ways: [
      way("set|change ? page frontmatter", {
        field: slot("-", isField),
        page: ofPages("of on in for"),
        value: slot("to", isValue),
      }),
      way("", { page: ofPage("in"), value: slot("- to", isFieldValue) }),
      way("set|change|add|give ? frontmatter", {
        value: slot("- to", isFieldValue),
        page: ofPage("- of on in for to"),
      }),
      way("set|change", { page: slot("-", isPage), field: slot("-", isField), value: slot("to", isValue) }),
      way("retitle ? page", {
        page: slot("-", (thing) => isPage(thing) && (thing.noun === "page" || isPathLike(thing.text))),
        title: slot("to as", isQuoted),
      }),
      way("? page frontmatter", {
        field: slot("-", isField),
        page: ofPage("of on in for"),
        value: slot("become to", isValue),
      }),
      way("set|change|add", { field: slot("-", isField), page: ofPage("to of for"), value: slot("to", isQuoted) }),
      way("add ? value frontmatter", { field: slot("-", isField), value: slot("with", isValue), page: ofPage("to") }),
    ],
    read: readField,
  },
  {
    example: "add `draft: true` to the front matter of {page:guides/auth}",
    ways: [way("add|set|put frontmatter", { pair: slot("-", isQuoted), page: ofPage("of on in for") })],
    read: readPair,
  },
  {
    example: "remove the front matter field hidden from {page:guides/auth}",
    ways: [way("delete|unset ? frontmatter", { field: slot("-", isField), page: ofPage("from of on in") })],
    read: (picked) =>
      order({ kind: "set_front_matter", page: page(picked, "page"), field: text(picked, "field"), value: null }),
  },
  {
    example: 'rename the heading "{heading:Setup}" in {page:guides/quickstart} to "Installation"',
    ways: [
      way("rename|retitle|change", {
        from: slot("-", calledHeading),
        page: optional(ofPage("in of on from")),
        to: slot("to into as become called", isHeading),
      }),
      way("call", { from: slot("-", calledHeading), page: optional(ofPage("in of from")), to: slot("-", isQuoted) }),
      way("", {
        page: optional(ofPage("- in of on from")),
        from: slot("- called", calledHeading),
        to: slot("arrow become", isHeading),
      }),
    ],
    read: (picked, frame) =>
      onPage(picked, "from", (onto) =>
        orderIfBounded(picked, frame, {
          kind: "rename_heading",
          page: onto,
          from: bareHeading(text(picked, "from")),
          to: bareHeading(text(picked, "to")),
        }),
      ),
  },
  {
    example: 'split the section "{heading:Setup}" of {page:guides/quickstart} into its own page',
    ways: [
      way("split ? own page", {
        heading: slot("-", isHeading),
        page: ofPage("of from in on"),
        to: optional(slot("into to as called", isSingle)),
      }),
      way("make|change page ? own", {
        heading: slot("-", calledHeading),
        page: ofPage("of from in on"),
        to: optional(slot("called", isSingle)),
      }),
    ],
    read(picked, { words }) {
      const heading = bareHeading(text(picked, "heading"));
      if (!picked.has("to") && !words.includes("page"))
        return unclear("it does not say where to: write into its own page");
      const to = picked.has("to") ? text(picked, "to") : `./${slug(heading)}`;
      return order({ kind: "move_section", page: page(picked, "page"), heading, to });
    },
  },
  {
    example: 'move the section "{heading:Setup}" of {page:guides/quickstart} to {other:guides/install}',
    ways: [
      way("move", {
        heading: slot("-", calledHeading),
        page: optional(ofPage("in of on from")),
        to: ofPage("to into"),
      }),
      way("move|put", { heading: slot("-", calledHeading), page: optional(ofPage("of from")), to: ofPage("in under") }),
      way("move", { heading: slot("-", isKnownHeading), page: ofPage("from"), to: ofPage("to into") }),
    ],
    read: (picked) =>
      onPage(picked, "heading", (onto) =>
        order({
          kind: "move_section",
          page: onto,
          heading: bareHeading(text(picked, "heading")),
          to: page(picked, "to"),
        }),
      ),
  },
];

/** The page that the clause names, or the only one of the site that has the heading. */
function onPage(picked: Picked, name: string, read: (page: string) => Reading): Reading {
  if (picked.has("page")) return read(page(picked, "page"));
  const [only, ...others] = picked.get(name)?.[0]?.meaning?.headingOf ?? [];
  if (only !== undefined && others.length === 0) return read(only);
  const which = others.length === 0 ? "" : `: ${[only, ...others].join(", ")} have it`;
  return unclear(`it does not say on which page the heading is${which}`);
}

function fixLinks(picked: Picked, words: readonly string[]): readonly Instruction[] {
  const isOnlyAnchors = words.includes("anchors") && !words.includes("links");
  return inPlaces(picked, (under) => ({
    kind: "fix_links",
    ...(under !== undefined && { under }),
    ...(isOnlyAnchors && { only: "anchors" as const }),
  }));
}

/** A heading as people copy it from the source: `## Setup`. */
function bareHeading(written: string): string {
  return written.replace(/^#{1,6}\s+/, "");
}

function fieldOf({ noun }: Thing): string | null {
  return ["", "page", "heading", "section", "group", "folder", "term", "text", "value", "entry", "field"].includes(noun)
    ? null
    : noun;
}

function readField(picked: Picked): Reading {
  const value = (picked.get("value") ?? picked.get("title"))?.[0];
  const field = picked.has("title") ? "title" : ((value && fieldOf(value)) ?? text(picked, "field"));
  if (!value) return unclear("it gives no value");
  if (field === "title" && value.kind !== "quoted") return unclear("put the title in quotation marks");
  const written = value.kind === "quoted" ? value.text : scalar(value.text);
  return order(
    ...(picked.get("page") ?? []).map(
      (one): Instruction => ({ kind: "set_front_matter", page: pageText(one), field, value: written }),
    ),
  );
}

/** `draft: true`, as written in the file. Values that need a YAML parser are refused. */
function readPair(picked: Picked): Reading {
  const [, field = "", written = ""] = /^([A-Za-z_][\w-]*):[ \t]+(\S.*)$/.exec(text(picked, "pair").trim()) ?? [];
  if (field === "") return unclear("it is no field with its value: write `field: value`");
  const [, quoted = null] = /^"([^"\\]*)"$|^'([^']*)'$/.exec(written)?.filter((part) => part !== undefined) ?? [];
  if (quoted === null && !/^[\p{L}\p{N}][^#:\n]*$/u.test(written) && !isNumber(written)) {
    return unclear("the value is no plain text, number, true or false: put it in quotation marks");
  }
  return order({ kind: "set_front_matter", page: page(picked, "page"), field, value: quoted ?? scalar(written) });
}

function scalar(written: string): string | number | boolean {
  if (/^(?:true|false)$/i.test(written)) return written.toLowerCase() === "true";
  return isNumber(written) ? Number(written) : written;
}

function isNumber(written: string): boolean {
  return /^-?\d+(?:\.\d+)?$/.test(written);
}
