import type { Root } from "mdast";
import { directiveFromMarkdown } from "mdast-util-directive";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { mdxExpressionFromMarkdown } from "mdast-util-mdx-expression";
import { mdxJsxFromMarkdown } from "mdast-util-mdx-jsx";
import { directive } from "micromark-extension-directive";
import { gfm } from "micromark-extension-gfm";
import { mdxExpression } from "micromark-extension-mdx-expression";
import { mdxJsx } from "micromark-extension-mdx-jsx";
import { withContainers } from "./containers.ts";

export interface ParsedPage {
  /** The text between the front matter's dashes. */
  frontMatter: string | null;
  /** The file's line at which the tree begins. */
  bodyLine: number;
  tree: Root;
}

/** Of the extension for directives, what has a beginning and an end. `:name` in a line is text in most builders. */
const [container] = [directive().flow?.[58]].flat();
const containers = container ? { flow: { 58: container } } : {};

/**
 * Parses a page into a tree, never into markup. MDX components and expressions are nodes and are not evaluated. A page
 * with broken MDX is parsed as plain Markdown, where tags are text.
 */
export function parsePage(path: string, text: string): ParsedPage {
  const top = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  const frontMatter = top?.[1] ?? null;
  const body = withContainers(top ? text.slice(top[0].length) : text);
  const bodyLine = (top?.[0].match(/\n/g)?.length ?? 0) + 1;
  return { frontMatter, bodyLine, tree: (/\.mdx$/i.test(path) && parseMdx(body)) || parseMarkdown(body) };
}

function parseMarkdown(body: string): Root {
  return fromMarkdown(body, {
    extensions: [gfm(), containers],
    mdastExtensions: [gfmFromMarkdown(), directiveFromMarkdown()],
  });
}

function parseMdx(body: string): Root | null {
  try {
    const tree = fromMarkdown(body, {
      extensions: [
        gfm(),
        containers,
        mdxJsx(),
        mdxExpression(),
        { disable: { null: ["htmlFlow", "htmlText", "codeIndented"] } },
      ],
      mdastExtensions: [gfmFromMarkdown(), directiveFromMarkdown(), mdxJsxFromMarkdown(), mdxExpressionFromMarkdown()],
    });
    liftComponents(tree);
    return tree;
  } catch {
    return null;
  }
}

interface Written {
  type: string;
  value?: string;
  children?: Written[];
}

/** A component in a line of its own is a block, although it is written like a word. */
function liftComponents(parent: Written): void {
  const isWord = (one: Written) => one.type === "mdxJsxTextElement";
  parent.children = parent.children?.flatMap((node) => {
    const words = node.type === "paragraph" ? (node.children?.filter(isWord) ?? []) : [];
    if (words.length === 0 || node.children?.some((one) => !isWord(one) && one.value?.trim() !== "")) return [node];
    return words.map(({ children = [], ...word }) => {
      const text = { ...word, type: "paragraph", children };
      return { ...word, type: "mdxJsxFlowElement", children: children.length > 0 ? [text] : [] };
    });
  });
  for (const node of parent.children ?? []) liftComponents(node);
}
