import type { Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { mdxExpressionFromMarkdown } from "mdast-util-mdx-expression";
import { mdxJsxFromMarkdown } from "mdast-util-mdx-jsx";
import { gfm } from "micromark-extension-gfm";
import { mdxExpression } from "micromark-extension-mdx-expression";
import { mdxJsx } from "micromark-extension-mdx-jsx";

export interface ParsedPage {
  /** What stands between the lines of dashes at the top. */
  frontMatter: string | null;
  tree: Root;
}

/**
 * A page as a tree, never as markup. Components and expressions of MDX are nodes like any other and nothing evaluates
 * them; a page whose MDX is broken is read as plain Markdown, where tags are words.
 */
export function parsePage(path: string, text: string): ParsedPage {
  const top = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  const frontMatter = top?.[1] ?? null;
  const body = top ? text.slice(top[0].length) : text;
  return { frontMatter, tree: (/\.mdx$/i.test(path) && parseMdx(body)) || parseMarkdown(body) };
}

function parseMarkdown(body: string): Root {
  return fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

function parseMdx(body: string): Root | null {
  try {
    return fromMarkdown(body, {
      extensions: [gfm(), mdxJsx(), mdxExpression(), { disable: { null: ["htmlFlow", "htmlText", "codeIndented"] } }],
      mdastExtensions: [gfmFromMarkdown(), mdxJsxFromMarkdown(), mdxExpressionFromMarkdown()],
    });
  } catch {
    return null;
  }
}
