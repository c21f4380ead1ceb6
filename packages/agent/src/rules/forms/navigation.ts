import { type Form, named, navigation, optional, order, orderIfBounded, text } from "../form.ts";
import { pagesOf } from "../slots.ts";

export const inGroup = "(under|in|into|below|to|within) [the] [group|section] {group:term}";
const beside = `(before ${named("before")}|above ${named("before")}|after ${named("after")}|right after ${named("after")}|right before ${named("before")})`;
const place = `[${inGroup}] [${beside}]`;
const group = "[navigation] (group|section|tab)";
const first = "(first|at the top|to the top|at the beginning|at the start)";
const follows = "([as] [follows|like this] :|as|([in] [this|the following] order [:]))";

export const navigationForms: readonly Form[] = [
  {
    example: 'add guides/webhooks to the navigation under "Guides"',
    patterns: [
      `list ${named("page")} (to|in|into) ${navigation} ${place}`,
      `list ${named("page")} (to|in|into|under) [the] navigation (group|section) {group:term}`,
      `list ${named("page")} (to|in|into|under) the (group|section) {group:term} (of|in) ${navigation}`,
      `(list|show) ${named("page")} under [the] [group|section] {group:term} [in ${navigation}]`,
      `list ${named("page")} ${beside} in ${navigation}`,
    ],
    read: (captures) =>
      order({ kind: "list_page", page: text(captures, "page"), ...optional(captures, ["group", "before", "after"]) }),
  },
  {
    example: "put guides/webhooks after guides/auth in the navigation",
    patterns: [
      `put ${named("page")} (to|in|into) ${navigation} ${place}`,
      `(put|move) [the] [entry (of|for)] ${named("page")} ${beside} in ${navigation}`,
      `in ${navigation} (put|move|list) ${named("page")} ${beside}`,
      `(put|move) [the] [entry (of|for)] ${named("page")} (to|in|into|under) [the] (group|section) {group:term} (of|in) ${navigation}`,
      `(put|move) [the] [entry (of|for)] ${named("page")} (to|in|into|under) [the] navigation (group|section) {group:term}`,
      `(put|move) [the] [entry (of|for)] ${named("page")} under {group:quoted} in ${navigation}`,
    ],
    read: (captures) =>
      order({
        kind: "list_page",
        page: text(captures, "page"),
        ...optional(captures, ["group", "before", "after"]),
        move: true,
      }),
  },
  {
    example: 'put guides/webhooks first in the navigation group "Guides"',
    patterns: [
      `(put|move) ${named("page")} ${first} (in|of) ([the] ${group} {group:term}|the {group:term} ${group}) [(in|of) ${navigation}]`,
      `(put|move) ${named("page")} ${first} (in|of|under) {group:quoted} in ${navigation}`,
    ],
    read: (captures) =>
      order({ kind: "order_navigation", pages: [text(captures, "page")], group: text(captures, "group") }),
  },
  {
    example: 'list it in the navigation under "Guides"',
    patterns: [
      `(list|put) it (to|in|into) ${navigation} [${inGroup}]`,
      `(list|put) it under [the] [group|section] {group:term} [in ${navigation}]`,
    ],
    read: (captures) => ({ kind: "list_it", ...optional(captures, ["group"]) }),
  },
  {
    example: "remove guides/old from the navigation",
    patterns: [`(delete|take|hide) it (from|out of|in) ${navigation}`, "(unlist|hide) it"],
    read: () => ({ kind: "unlist_it" }),
  },
  {
    example: "remove guides/old from the navigation",
    patterns: [
      `(delete|take|hide) [the] [entry (of|for)] ${named("page")} (from|out of) ${navigation}`,
      `take ${named("page")} (off|out of) ${navigation}`,
      `(unlist|hide) ${named("page")} [(in|from) ${navigation}]`,
      `delete [the] navigation entry (of|for) ${named("page")}`,
    ],
    read: (captures) => order({ kind: "unlist_page", page: text(captures, "page") }),
  },
  {
    example: 'order the navigation group "Guides" as guides/start, guides/auth, guides/webhooks',
    patterns: [
      `order [the] [pages (of|in|under)] [the] [navigation|nav|sidebar|menu] [group|section] {group:term} ${follows} {pages:pages}`,
      `order ${navigation} ${follows} {pages:pages}`,
      `(put|list) the pages (of|in|under) [the] [navigation] [group|section] {group:term} in (this|the following) order : {pages:pages}`,
    ],
    read: (captures) =>
      order({ kind: "order_navigation", pages: pagesOf(captures.get("pages")), ...optional(captures, ["group"]) }),
  },
  {
    example: 'rename the navigation group "Guides" to "How-to guides"',
    patterns: [
      `retitle [the] ${group} {from:term} (to|into|as) {to:term} [in ${navigation}]`,
      `retitle [the] ${group} {from:term} in ${navigation} (to|into) {to:term}`,
      `change the (name|label|title) of [the] ${group} {from:term} (to|into) {to:term}`,
    ],
    read: (captures) =>
      orderIfBounded(captures, { kind: "rename_group", from: text(captures, "from"), to: text(captures, "to") }),
  },
];
