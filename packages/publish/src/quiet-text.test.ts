import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { codeBlock, quietLine, quietMarkdown, quietText, quoted } from "./quiet-text.ts";

interface Order {
  must: string;
  finish?: { title: string; summary: string };
}
const table: { orders: readonly Order[] } = JSON.parse(
  readFileSync(new URL("../../testkit/src/fixtures/hostile-orders.json", import.meta.url), "utf8"),
);
const quiet = table.orders.flatMap(({ must, finish }) => (must === "quiet" && finish ? [finish.summary] : []));

/** What each forge looks for in text outside code. Gitea's patterns are from its source. */
const acts = [
  /(?:^|[^\w`/])@[\w-]+/,
  /(?:\s|^|\(|\[)(@[-\w][-.\w]*?|@[-\w][-.\w]*?\/[-\w][-.\w]*?)(?:\s|$|[:,;.?!](\s|$)|'|\)|\])/,
  /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?|reopen(?:s|ed)?):? +(?:issues? +)?(?:[\w./-]*[#!&]\d|GH-\d|https?:|[A-Z]+-\d)/i,
  /(?:\s|^|\(|\[|'|")[#!][0-9]+(?:\s|$|\)|\]|'|"|[:;,.?!]\s|[:;,.?!]$)/,
  /^[ \t>*+-]*\/[a-z_]+/im,
  /@\{[^}\s]+\}/,
  /\b[A-Z][A-Z0-9_]+-\d+\b.*#[A-Za-z]/,
];

it.each(quiet)("a forge acts on nothing in %j", (text) => {
  const shown = quietMarkdown(text, 1_000).replaceAll(/`+[^`]*`+/g, "code");
  for (const plain of [shown, quietLine(text, 200), quietText(text, 1_000)]) {
    for (const pattern of acts) expect(plain).not.toMatch(pattern);
    expect(plain).not.toMatch(/\[skip ci\]|^co-authored-by:/im);
    expect(plain).not.toMatch(/[\u200b-\u200f\u2060\ufeff]/);
  }
});

interface Words {
  forge: string;
  words: readonly string[];
  forms: readonly string[];
}
const forgeWords: { forges: readonly Words[] } = JSON.parse(
  readFileSync(new URL("../test/forge-words.json", import.meta.url), "utf8"),
);
/** Any reference or command, with or without a word before it. */
const anyReference = [
  /(?:[\w./-]*)[#!]\d/,
  /\bG[HL]-\d/i,
  /\[issue:\d/,
  /\b[A-Z][A-Z0-9_]+-\d+\b.*#[a-z]/,
  /(?:clos|fix|resolv|implement|reopen)\w*:?\s+(?:issues?\s+)?(?:https?:|[A-Z][A-Z0-9_]+-\d)/i,
];

it.each(forgeWords.forges)("$forge acts on none of its own words", ({ words, forms }) => {
  for (const text of words.flatMap((word) => forms.map((form) => form.replaceAll("{word}", word)))) {
    const shown = quietMarkdown(text, 1_000).replaceAll(/`+[^`]*`+/g, "code");
    for (const plain of [shown, quietLine(text, 500), quietText(text, 1_000)]) {
      for (const pattern of [...acts, ...anyReference]) expect(plain, text).not.toMatch(pattern);
    }
  }
});

it.each([
  [
    "Thanks @octocat and @acme/docs-team.",
    "Thanks `@octocat` and `@acme/docs-team`.",
    "Thanks @ octocat and @ acme/docs-team.",
  ],
  ["Fixes #11, acme/api#12", "Fixes `#11`, `acme/api#12`", "Fixes # 11, acme/api# 12"],
  ["/approve now", "`/approve now`", "/ approve now"],
  [
    "Write to a@b.test about `@name` and `#1`.",
    "Write to a@b.test about `@name` and `#1`.",
    "Write to a@b.test about `@name` and `#1`.",
  ],
  [
    "Open /guides/auth & co; 5 &amp; 6 #tag",
    "Open /guides/auth & co; 5 &amp; 6 #tag",
    "Open /guides/auth & co; 5 &amp; 6 #tag",
  ],
  ["ABC-12 now #done", "ABC-12 now `#done`", "ABC-12 now # done"],
  ["Ask @{557058:0b1c}.", "Ask `@{557058:0b1c}`.", "Ask @ {557058:0b1c}."],
  ["Closes ABC-12", "Closes `ABC-12`", 'Closes: "ABC-12"'],
])("%j reads well", (text, asMarkdown, asLine) => {
  expect(quietMarkdown(text, 1_000)).toBe(asMarkdown);
  expect(quietLine(text, 1_000)).toBe(asLine);
});

it("leaves no line in code that begins with a command, for forges that do not know it for code", () => {
  expect(quietMarkdown("~~~\n/approve\n~~~", 100)).not.toMatch(/^\/approve/m);
  expect(quietMarkdown("`a\n/approve`", 100)).not.toMatch(/^\/approve/m);
  expect(codeBlock("/approve", 100)).not.toMatch(/^\/approve/m);
});

it.each([
  ["plain words, on several lines", 'Replace "API token" with "access key".\n\nIn guides/send_messages, too.', true],
  ["a command of a forge", "Do this:\n/close", false],
  ["a reference", "Fixes #12", false],
  ["emphasis", "Say **this**", false],
  ["a list", "- one\n- two", false],
  ["an address", "See https://evil.example", false],
  ["an element", "Use <Card>", false],
  ["an entity, which is other words when it is shown", "Say A&amp;B", false],
])("quotes %s only where that shows the same words", (_what, text, isQuoted) => {
  expect(quoted(text, 1_000)).toBe(
    isQuoted ? text.replaceAll(/^(?=.)/gm, "> ").replace("\n\n", "\n>\n") : codeBlock(text, 1_000),
  );
});

it.each([
  ["lists on one line", "- ".repeat(1_900), 1],
  ["quotes on one line", `${"> ".repeat(1_900)}a`, 1],
  ["lists by indentation", Array.from({ length: 140 }, (_, depth) => `${" ".repeat(depth)}- a`).join("\n"), 140],
])("%s that are nested deeper than a parser bears are shown as they are", (_what, text, lines) => {
  const shown = quietMarkdown(text, 100_000);
  expect(shown).toBe(codeBlock(text, 100_000));
  expect(shown.split("\n")).toHaveLength(lines + 2);
  expect(quietMarkdown("- ".repeat(20), 100)).not.toContain("```");
});
