import {
  type Form,
  given,
  isGroup,
  isPage,
  isQuoted,
  optional,
  order,
  orderIfBounded,
  type Picked,
  page,
  pageText,
  several,
  slot,
  text,
  way,
} from "../form.ts";
import type { Thing } from "../frame.ts";
import type { Instruction } from "../instruction.ts";

const calledGroup = (thing: Thing) => isGroup(thing) && thing.noun !== "";
const isKnownGroup = (thing: Thing) => calledGroup(thing) || (isGroup(thing) && thing.meaning?.isGroup === true);
const beside = { before: optional(slot("before", isPage)), after: optional(slot("after", isPage)) };
const inGroup = slot("under in into to of", isGroup);
/** "rather than under X" */
const was = optional(slot("insteadof", isGroup));

export const navigationForms: readonly Form[] = [
  {
    example: 'add {page:guides/webhooks} to the navigation under "{group:Guides}"',
    ways: [
      way("add navigation ? page entry", { page: slot("-", isPage), group: optional(inGroup), ...beside }),
      way("list|add navigation ? page", { page: several(slot("-", isPage)), group: optional(inGroup) }),
      way("list|add", { page: several(slot("-", isPage)), group: slot("under", isGroup) }),
      way("list|add", { page: several(slot("-", isPage)), group: slot("to in into", isKnownGroup) }),
    ],
    read: (picked) => order(...(picked.get("page") ?? []).map((one) => ({ ...listPage(picked), page: pageText(one) }))),
  },
  {
    example: "put {page:guides/webhooks} after {other:guides/auth} in the navigation",
    ways: [
      way("put navigation ? entry", { page: slot("- of for", isPage), group: optional(inGroup), ...beside, was }),
      way("put|move|list ? entry navigation", {
        page: slot("- of for", isPage),
        group: optional(inGroup),
        before: slot("before", isPage),
        was,
      }),
      way("put|move|list ? entry navigation", {
        page: slot("- of for", isPage),
        group: optional(inGroup),
        after: slot("after", isPage),
        was,
      }),
      way("add", { page: slot("-", isPage), group: optional(inGroup), after: slot("after", isPage) }),
      way("add", { page: slot("-", isPage), group: optional(inGroup), before: slot("before", isPage) }),
      way("move navigation ? entry", {
        page: slot("- of for", isPage),
        group: slot("to in into under", calledGroup),
        was,
      }),
      way("move navigation ? entry", { page: slot("- of for", isPage), group: slot("under", isGroup), was }),
      way("list navigation", { page: slot("-", isPage), group: inGroup, was: { ...was, least: 1 } }),
    ],
    read: (picked) => order({ ...listPage(picked), move: true }),
  },
  {
    example: 'put {page:guides/webhooks} first in the navigation group "{group:Guides}"',
    ways: [
      way("move|put top ? navigation", { page: several(slot("-", isPage)), group: slot("in of", isKnownGroup) }),
      way("move|put top navigation", {
        page: several(slot("-", isPage)),
        group: optional(slot("in of under", isQuoted)),
      }),
    ],
    read: (picked) =>
      order({ kind: "order_navigation", pages: (picked.get("page") ?? []).map(pageText), ...given(picked, ["group"]) }),
  },
  {
    example: "remove {page:guides/old} from the navigation",
    ways: [
      way("delete|take|hide navigation ? entry", { page: several(slot("- of for", isPage)) }),
      way("delete entry", { page: slot("of for", isPage) }),
      way("hide", { page: several(slot("-", isPage)) }),
    ],
    read: (picked) =>
      order(...(picked.get("page") ?? []).map((one) => ({ kind: "unlist_page" as const, page: pageText(one) }))),
  },
  {
    example: 'order the navigation group "{group:Guides}" as {page:guides/start}, {other:guides/auth}',
    ways: [
      way("order ? change navigation page group section sorted", {
        group: optional(slot("- of in under", isGroup)),
        pages: several(slot("as to become", isPage), 2),
      }),
      way("put|list page ? navigation", { group: slot("of in under", isGroup), pages: several(slot("as", isPage), 2) }),
    ],
    read: (picked) =>
      order({
        kind: "order_navigation",
        pages: (picked.get("pages") ?? []).map(pageText),
        ...given(picked, ["group"]),
      }),
  },
  {
    example: 'rename the navigation group "{group:Guides}" to "How-to guides"',
    ways: [
      way("rename|retitle|change ? navigation term only", {
        from: slot("- of called", calledGroup),
        to: slot("to into as become called", isGroup),
      }),
      way("rename|retitle|change navigation ? term only", {
        from: slot("- of", (thing) => isGroup(thing) && (thing.meaning?.pages.length ?? 0) === 0),
        to: slot("to into as", isGroup),
      }),
    ],
    read: (picked, frame) =>
      orderIfBounded(picked, frame, { kind: "rename_group", from: text(picked, "from"), to: text(picked, "to") }),
  },
];

function listPage(picked: Picked): Extract<Instruction, { kind: "list_page" }> {
  return {
    kind: "list_page",
    page: page(picked, "page"),
    ...given(picked, ["group"]),
    ...given(picked, ["before", "after"], page),
  };
}
