import { expect, test } from "vitest";
import { changeKindOf } from "./change-kind.ts";

const kindOf = (before: string | null, after: string | null, path = "guides/start.md") =>
  changeKindOf([{ path, before, after }]);

test.each([
  ["See [setup](/setup).", "See [setup](/install/setup)."],
  ["See [setup](setup.md#a) and [b](b.md).", "See [setup](../setup.md#b) and [b](b.md)."],
  ["[home]: http://docs.acme.test/old", "[home]: https://docs.acme.test/new"],
  ['<a href="/old">x</a>', '<a href="/new#part">x</a>'],
])("only links: %s", (before, after) => {
  expect(kindOf(before, after)).toBe("links");
});

test.each([
  ["The acount is ready.", "The account is ready."],
  ["It takes ten minuts, and is recieved `by` [you](/you).", "It takes ten minutes, and is received `by` [you](/you)."],
  ["# Instalation", "# Installation"],
])("only typos: %s", (before, after) => {
  expect(kindOf(before, after)).toBe("typos");
});

test.each([
  ["another host", "See [setup](https://acme.test/a).", "See [setup](https://evil.test/a)."],
  ["a script", "See [setup](/a).", "See [setup](javascript:alert(1))."],
  ["a host without scheme", "See [setup](/a).", "See [setup](//evil.test/a)."],
  ["a link's words", "See [setup](/a).", "See [set up](/b)."],
  ["another picture", "![A cat](/cat.png)", "![A cat](/dog.png)"],
  ["a link and a typo", "The acount: [a](/a).", "The account: [a](/b)."],
  ["another word", "You can include it.", "You can exclude it."],
  ["a short word", "It is now here.", "It is not here."],
  ["a word that the page has elsewhere", "Unlock it, or unlock it later.", "Unblock it, or unlock it later."],
  ["a figure", "It takes 100 minutes.", "It takes 1000 minutes."],
  ["a word that code has too", "Call instal with `instal`.", "Call install with `instal`."],
  ["code in a line", "Run `instal`.", "Run `install`."],
  ["code in a block", "```sh\ninstal it\n```", "```sh\ninstall it\n```"],
  ["settings of a page", "---\ntitle: Instal\n---\n\nx", "---\ntitle: Install\n---\n\nx"],
  ["an added line", "a", "a\nb"],
  ["nothing", "a", "a"],
])("no kind: %s", (_what, before, after) => {
  expect(kindOf(before, after)).toBeNull();
});

test("new, deleted and other files have no kind", () => {
  expect(kindOf(null, "See [a](/a).")).toBeNull();
  expect(kindOf("See [a](/a).", null)).toBeNull();
  expect(kindOf("See [a](/a).", "See [a](/b).", "mkdocs.yml")).toBeNull();
  expect(changeKindOf([])).toBeNull();
});

test("one file that is more than its kind decides for all", () => {
  const link = { path: "a.md", before: "[a](/a)", after: "[a](/b)" };
  const more = { path: "b.md", before: "One.", after: "Another." };
  expect(changeKindOf([link, link])).toBe("links");
  expect(changeKindOf([link, more])).toBeNull();
});
