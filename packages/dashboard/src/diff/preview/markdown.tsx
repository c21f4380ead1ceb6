import type { Nodes, Parents, Root, Table, TableRow } from "mdast";
import { createContext, type ReactNode, useContext } from "react";
import { VisibleText } from "../../parts/text.tsx";
import { Component, type ComponentNode, Source } from "./component.tsx";
import {
  Callout,
  type ContainerNode,
  KnownComponent,
  type KnownPart,
  knownPart,
  listedNames,
  TabbedView,
} from "./known-component.tsx";

/** The node types that extensions add. Their own types are global, so this lists what is used. */
type Shown =
  | Exclude<Nodes, { type: "containerDirective" }>
  | ComponentNode
  | ContainerNode
  | { type: "mdxFlowExpression" | "mdxTextExpression"; value: string };

/**
 * Renders a syntax tree: text and a few kinds of blocks. The page's markup never becomes markup here, links do nothing
 * unless `Links` says what they are, and images are not loaded.
 */
export function Markdown({ tree }: { tree: Root }) {
  return <Children of={tree} />;
}

function Children({ of }: { of: { children: readonly unknown[] } }) {
  const nodes = of.children as readonly Shown[];
  return nodes.map((node, index) => {
    // Material's tabs are beside each other, with nothing around them.
    if (isLoneTab(node) && index > 0 && isLoneTab(nodes[index - 1])) return null;
    const end = nodes.findIndex((one, other) => other > index && !isLoneTab(one));
    const run = isLoneTab(node) ? nodes.slice(index, end === -1 ? undefined : end) : [];
    // biome-ignore lint/suspicious/noArrayIndexKey: the nodes of a parsed page never move
    return run.length > 0 ? <TabsOf key={index} nodes={run} /> : <Node key={index} node={node} />;
  });
}

function isLoneTab(node: Shown | undefined): boolean {
  return node?.type === "containerDirective" && node.name === "tab";
}

/** Tabs, or blocks of code as tabs. What else is between them is shown above. */
function TabsOf({ nodes, names = [] }: { nodes: readonly Shown[]; names?: readonly string[] }) {
  const marks = useContext(Marks);
  const tabs = nodes.flatMap((node) => {
    const part = partOf(node);
    if (node.type !== "code" && part?.look !== "tab") return [];
    return [{ node, part, isChanged: linesOf(node, marks?.offset ?? 0).some((line) => marks?.lines.has(line)) }];
  });
  const others = nodes.filter((node) => !tabs.some((tab) => tab.node === node));
  return (
    <>
      <Children of={{ children: others }} />
      <TabbedView
        tabs={tabs.map(({ node, part, isChanged }, index) => ({
          words: tabName(node, part) ?? names[index] ?? `Tab ${index + 1}`,
          content: <Children of={part ?? { children: [node] }} />,
          isChanged,
        }))}
      />
    </>
  );
}

function partOf(node: Shown): KnownPart | null {
  return node.type === "containerDirective" || node.type === "mdxJsxFlowElement" || node.type === "mdxJsxTextElement"
    ? knownPart(node)
    : null;
}

function tabName(node: Shown, part: KnownPart | null): ReactNode {
  if (part?.label) return <Children of={{ children: part.label }} />;
  if (part) return part.given.title ?? part.given.label ?? part.given.value ?? null;
  if (node.type !== "code") return null;
  const [, titled, listed] = /(?:title|filename|label)="([^"]*)"|\[([^\]]*)\]/.exec(node.meta ?? "") ?? [];
  return titled ?? listed ?? node.meta ?? node.lang ?? null;
}

function linesOf(node: Shown, offset: number): readonly number[] {
  const { start, end } = ("position" in node && node.position) || {};
  if (!start || !end) return [];
  return Array.from({ length: end.line - start.line + 1 }, (_, index) => start.line + index + offset);
}

/** The changed lines of a page: what has one is marked. `offset`: lines of the file above its first node. */
export const Marks = createContext<{ as: "ins" | "del"; lines: ReadonlySet<number>; offset: number } | null>(null);

const markLooks = {
  ins: "border-add-word bg-add",
  del: "border-del-word bg-del",
};

/** A changed block, in color and for screen readers. */
export function Marked({ as: Mark, children }: { as: "ins" | "del"; children: ReactNode }) {
  return (
    <Mark className={`-mx-3 block rounded-xs border-l-3 px-[9px] no-underline ${markLooks[Mark]}`}>{children}</Mark>
  );
}

/** The smallest blocks: those around them are not marked. Of a component, the line that opens it is. */
const marked = ["paragraph", "heading", "code", "html", "thematicBreak", "mdxFlowExpression", "tableRow"];

function useMark(node: Shown | Nodes): "ins" | "del" | null {
  const marks = useContext(Marks);
  const position = "position" in node ? node.position : undefined;
  if (!marks || !position) return null;
  const isComponent = node.type === "mdxJsxFlowElement" || node.type === "containerDirective";
  if (!isComponent && !marked.includes(node.type)) return null;
  const start = position.start.line + marks.offset;
  const end = isComponent ? start : position.end.line + marks.offset;
  for (let line = start; line <= end; line += 1) if (marks.lines.has(line)) return marks.as;
  return null;
}

function Node({ node }: { node: Shown }): ReactNode {
  const mark = useMark(node);
  const shown = <NodeItself node={node} />;
  if (mark === null) return shown;
  return (
    <Marked as={mark}>
      {/* Marked as a whole: no mark inside a mark. */}
      <Marks value={null}>{shown}</Marks>
    </Marked>
  );
}

function NodeItself({ node }: { node: Shown }): ReactNode {
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
      return <TextLink url={node.url} of={node} />;
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
    case "blockquote": {
      const alert = alertOf(node);
      if (alert)
        return (
          <Callout kind={alert.kind} title={null}>
            <Children of={alert} />
          </Callout>
        );
      return (
        <blockquote className="grid gap-3 border-l-2 border-line pl-4 text-quiet">
          <Children of={node} />
        </blockquote>
      );
    }
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
    case "containerDirective":
    case "mdxJsxFlowElement":
    case "mdxJsxTextElement": {
      const part = partOf(node);
      if (part?.look === "tabs")
        return <TabsOf nodes={part.children as readonly Shown[]} names={listedNames(part.given.items)} />;
      if (part) return <KnownComponent part={part} draw={(children) => <Children of={{ children }} />} />;
      return (
        <Component
          node={node.type === "containerDirective" ? { ...node, type: "mdxJsxFlowElement", attributes: [] } : node}
        >
          <Children of={node} />
        </Component>
      );
    }
    case "html":
    case "mdxFlowExpression":
    case "mdxTextExpression":
      return <Source text={node.value} label={null} />;
    default:
      return "children" in node ? <Children of={node as Parents} /> : null;
  }
}

/** `> [!NOTE]`, as GitHub and others know it. */
function alertOf({ children }: Parents): { kind: string; children: readonly unknown[] } | null {
  const [first, ...rest] = children;
  const [words, ...others] = first?.type === "paragraph" ? first.children : [];
  const [mark, kind] = (words?.type === "text" && /^\[!(\w+)\][+-]?[ \t]*(?:\n|$)/.exec(words.value)) || [];
  if (first?.type !== "paragraph" || words?.type !== "text" || mark === undefined || kind === undefined) return null;
  const text = words.value.slice(mark.length);
  const left = text === "" ? others : [{ ...words, value: text }, ...others];
  return { kind: kind.toLowerCase(), children: left.length > 0 ? [{ ...first, children: left }, ...rest] : rest };
}

/** What a link becomes, in a text of our own. Its headings then have ids. */
export const Links = createContext<((url: string, words: ReactNode) => ReactNode) | null>(null);

function TextLink({ url, of }: { url: string; of: Parents }) {
  const linkTo = useContext(Links);
  const words = <Children of={of} />;
  if (linkTo) return linkTo(url, words);
  return (
    <span className="underline decoration-quiet underline-offset-3" title={url}>
      {words}
    </span>
  );
}

/**
 * Where the text's headings are in the page's outline: its largest has this depth, and becomes one of this level. Blocks
 * that are shown without those between them have no outline.
 */
export const TopHeading = createContext({ depth: 6, level: 3 });
const headingLooks = ["text-[26px] leading-8", "text-[21px] leading-7", "text-[18px] leading-6"];

/** The surrounding page has its own headings above these, unless the text is the page. */
function Heading({ depth, of }: { depth: number; of: Parents }) {
  const isPage = useContext(Links) !== null;
  const top = useContext(TopHeading);
  const level = isPage ? depth : Math.min(6, top.level + Math.max(0, depth - top.depth));
  const Tag = `h${level}` as "h1";
  return (
    <Tag
      id={isPage ? idOf(of) : undefined}
      className={`font-semibold ${headingLooks[depth - 1] ?? ""} ${isPage && depth > 1 ? "scroll-mt-4 pt-3" : ""}`}
    >
      <Children of={of} />
    </Tag>
  );
}

/** As GitHub makes them: "Body size & TLS" is `body-size--tls`. */
function idOf(of: Parents): string {
  return wordsOf(of)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
}

function wordsOf(node: Nodes): string {
  if ("value" in node) return node.value;
  return "children" in node ? (node as Parents).children.map(wordsOf).join("") : "";
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
            <RowView key={index} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RowView({ row }: { row: TableRow }) {
  const mark = useMark(row);
  return (
    <tr className={mark ? markLooks[mark] : ""}>
      {row.children.map((cell, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the cells of a parsed page never move
        <td key={column}>
          <Children of={cell} />
        </td>
      ))}
    </tr>
  );
}
