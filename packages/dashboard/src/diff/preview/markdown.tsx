import type { Nodes, Parents, Root, Table } from "mdast";
import type { ReactNode } from "react";
import { VisibleText } from "../../parts/text.tsx";
import { Component, type ComponentNode, Source } from "./component.tsx";

/** The node types that MDX adds. Their own types are global, so this lists what is used. */
type Shown = Nodes | ComponentNode | { type: "mdxFlowExpression" | "mdxTextExpression"; value: string };

/**
 * Renders a syntax tree: text and a few kinds of blocks. The page's markup never becomes markup here, links do nothing
 * and images are not loaded.
 */
export function Markdown({ tree }: { tree: Root }) {
  return <Children of={tree} />;
}

function Children({ of }: { of: { children: readonly unknown[] } }) {
  // biome-ignore lint/suspicious/noArrayIndexKey: the nodes of a parsed page never move
  return (of.children as readonly Shown[]).map((node, index) => <Node key={index} node={node} />);
}

function Node({ node }: { node: Shown }): ReactNode {
  switch (node.type) {
    case "text":
      return <VisibleText text={node.value} />;
    case "paragraph":
      return (
        <p>
          <Children of={node} />
        </p>
      );
    case "heading":
      return <Heading depth={node.depth} of={node} />;
    case "emphasis":
      return (
        <em>
          <Children of={node} />
        </em>
      );
    case "strong":
      return (
        <strong>
          <Children of={node} />
        </strong>
      );
    case "delete":
      return (
        <s>
          <Children of={node} />
        </s>
      );
    case "inlineCode":
      return (
        <code className="rounded-md bg-hush px-1">
          <VisibleText text={node.value} />
        </code>
      );
    case "code":
      return <Source text={node.value} label={node.lang ?? null} />;
    case "link":
      return (
        <span className="underline decoration-quiet underline-offset-3" title={node.url}>
          <Children of={node} />
        </span>
      );
    case "linkReference":
      return (
        <span className="underline decoration-quiet underline-offset-3">
          <Children of={node} />
        </span>
      );
    case "image":
      return <Image words={node.alt || node.url} />;
    case "imageReference":
      return <Image words={node.alt || node.identifier} />;
    case "blockquote":
      return (
        <blockquote className="grid gap-3 border-l-2 border-line pl-4 text-quiet">
          <Children of={node} />
        </blockquote>
      );
    case "list": {
      const List = node.ordered ? "ol" : "ul";
      return (
        <List
          start={node.ordered ? (node.start ?? undefined) : undefined}
          className={`grid gap-1 pl-6 ${node.ordered ? "list-decimal" : "list-disc"} marker:text-quiet`}
        >
          <Children of={node} />
        </List>
      );
    }
    case "listItem":
      return (
        <li>
          {typeof node.checked === "boolean" && (node.checked ? "☑ " : "☐ ")}
          <Children of={node} />
        </li>
      );
    case "thematicBreak":
      return <hr className="border-line" />;
    case "break":
      return <br />;
    case "table":
      return <TableView table={node} />;
    case "mdxJsxFlowElement":
    case "mdxJsxTextElement":
      return (
        <Component node={node}>
          <Children of={node} />
        </Component>
      );
    case "html":
    case "mdxFlowExpression":
    case "mdxTextExpression":
      return <Source text={node.value} label={null} />;
    default:
      return "children" in node ? <Children of={node as Parents} /> : null;
  }
}

const headings = ["h3", "h4", "h5", "h6", "h6", "h6"] as const;
const headingLooks = ["text-[26px] leading-8", "text-[21px] leading-7", "text-[18px] leading-6"];

/** The surrounding page has its own headings above these. */
function Heading({ depth, of }: { depth: number; of: Parents }) {
  const Tag = headings[depth - 1] ?? "h6";
  return (
    <Tag className={`font-semibold ${headingLooks[depth - 1] ?? ""}`}>
      <Children of={of} />
    </Tag>
  );
}

function Image({ words }: { words: string }) {
  return (
    <span className="rounded-md border border-dashed border-line px-1.5 font-sans text-[13px] text-quiet">
      image: <VisibleText text={words} />
    </span>
  );
}

function TableView({ table }: { table: Table }) {
  const [head, ...rows] = table.children;
  return (
    <div className="overflow-x-auto">
      <table className="border-collapse wrap-break-word text-[15px] [&_td]:min-w-24 [&_td]:border [&_td]:border-line [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:border-line [&_th]:px-2 [&_th]:py-1 [&_th]:text-left">
        <thead>
          <tr>
            {head?.children.map((cell, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a parsed page never move
              <th key={index}>
                <Children of={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a parsed page never move
            <tr key={index}>
              {row.children.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a parsed page never move
                <td key={column}>
                  <Children of={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
