import fc from "fast-check";

// Generates documents from common documentation syntax in any order: nested, interrupted, half closed.

const inline = fc.constantFrom(
  "plain text",
  "[link](page.md)",
  "[a `code` link](/route#hash)",
  '[link *with* emphasis](<a b.md> "Title")',
  "![alt](image.png)",
  "[![badge](badge.svg)](target.md)",
  "[ref][label]",
  "[label]",
  "[unknown][nothing]",
  "`[code](not-a-link.md)`",
  "`` ` [x](y) ``",
  "\\[escaped](not.md)",
  "*em* **strong** snake_case_name",
  "<b>html</b>",
  "<!-- [x](comment.md) -->",
  "half [open",
  "closed] again",
  "text](loose.md)",
  "a (b) [c]((d).md)",
  "&amp; [e](a&amp;b.md)",
  "ends with backslash\\",
  "`open tick",
  "~~struck [s](s.md)~~",
  "1 < 2",
);

const words = fc.array(inline, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(" "));

const block = fc.oneof(
  words,
  fc.tuple(words, words).map(([a, b]) => `${a}\n${b}`),
  fc.tuple(fc.integer({ min: 1, max: 7 }), words).map(([level, text]) => `${"#".repeat(level)} ${text}`),
  words.map((text) => `## ${text} ##`),
  words.map((text) => `${text}\n---`),
  words.map((text) => `${text}\n===`),
  words.map((text) => `- ${text}`),
  words.map((text) => `* one\n  ${text}\n\n  ${text}`),
  words.map((text) => `1. ${text}\n   - ${text}`),
  words.map((text) => `3) ${text}`),
  words.map((text) => `> ${text}\n> ${text}`),
  words.map((text) => `> ${text}\nlazy ${text}`),
  words.map((text) => `\`\`\`md\n${text}\n\`\`\``),
  words.map((text) => `~~~\n${text}`),
  words.map((text) => `  \`\`\`\n  ${text}\n  \`\`\``),
  words.map((text) => `| a | b |\n| - | - |\n| ${text.replaceAll("|", "")} | [t](t.md) |`),
  fc.constant('[label]: target.md "Title"'),
  fc.constant("[other]:\n  <other.md>"),
  fc.constant("\n[other]:\n  <other page.md>"),
  fc.constant("***"),
);

const markdownOnly = fc.oneof(
  words.map((text) => `    ${text}`),
  words.map((text) => `<div>\n${text}\n</div>`),
  words.map((text) => `<div>\n\n${text}\n\n</div>`),
  words.map((text) => `<!--\n${text}\n\n${text}\n-->`),
  words.map((text) => `<pre>\n${text}\n\n${text}\n</pre>`),
  fc.constant("<https://example.com/[x](y)>"),
  words.map((text) => `- item\n\n      ${text}`),
);

const mdxOnly = fc.oneof(
  words.map((text) => `<Card title="a">\n  ${text}\n</Card>`),
  words.map((text) => `<Card href="/x" icon={<Icon name="y" />}>\n\n${text}\n\n</Card>`),
  fc.constant("{/* [x](comment.md) */}"),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the page holds the template
  fc.constant("{[1, 2].map((n) => <a href={`/${n}`}>{n}</a>)}"),
  fc.constant("import A from './a.mdx'\nexport const b = {\n  c: '[x](y)',\n}"),
  words.map((text) => `<Note>${text.replaceAll("<", "")}</Note>`),
  words.map((text) => `      ${text}`),
);

const gap = fc.constantFrom("\n\n", "\n\n", "\n\n", "\n");

function document(blocks: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .array(fc.tuple(blocks, gap), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.map(([text, after]) => text + after).join(""))
    .filter(followsCommonMark);
}

/**
 * Two places where the full parser differs from CommonMark and the scanner does not. After indented code and a blank line,
 * the parser does not accept an ordered list that starts with another number than 1. And a complete tag alone on a lazy
 * continuation line ends the paragraph. (`<other page.md>` is such a tag, so that definition has a blank line before it.)
 */
const listAfterCode = /(?:^|\n) {4}[^\n]*\n(?:[ \t]*\n)+(?!1[.)])\d+[.)] /;

function followsCommonMark(text: string): boolean {
  return !listAfterCode.test(text);
}

export const markdownDocument = document(
  fc.oneof({ arbitrary: block, weight: 4 }, { arbitrary: markdownOnly, weight: 1 }),
);
export const mdxDocument = document(fc.oneof({ arbitrary: block, weight: 4 }, { arbitrary: mdxOnly, weight: 1 }));
