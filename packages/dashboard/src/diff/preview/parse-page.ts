import type { Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { mdxExpressionFromMarkdown } from "mdast-util-mdx-expression";
import { mdxJsxFromMarkdown } from "mdast-util-mdx-jsx";
import { gfm } from "micromark-extension-gfm";
import { mdxExpression } from "micromark-extension-mdx-expression";
import { mdxJsx } from "micromark-extension-mdx-jsx";

export interface ParsedPage {
  /** The text between the front matter's dashes. */
  frontMatter: string | null;
  /** The file's line at which the tree begins. */
  bodyLine: number;
  tree: Root;
}

/**
 * Parses a page into a tree, never into markup. MDX components and expressions are nodes and are not evaluated. A page
 * with broken MDX is parsed as plain Markdown, where tags are text.
 */
export function parsePage(path: string, text: string): ParsedPage {
  const top = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  const frontMatter = top?.[1] ?? null;
  const body = top ? text.slice(top[0].length) : text;
  const bodyLine = (top?.[0].match(/\n/g)?.length ?? 0) + 1;
  return { frontMatter, bodyLine, tree: (/\.mdx$/i.test(path) && parseMdx(body)) || parseMarkdown(body) };
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
