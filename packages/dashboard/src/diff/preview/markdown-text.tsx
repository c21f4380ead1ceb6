import { useMemo } from "react";
import { Markdown, TopHeading } from "./markdown.tsx";
import { parsePage } from "./parse-page.ts";

const charactersMax = 65_536;
/** Forges make a link of a commit's whole id, and show its first digits. */
const commitId = /(?<![\w/])([0-9a-f]{10})[0-9a-f]{30}(?![\w/])/g;

/** Markdown by people, such as a pull request's text. `level`: of its largest heading in the page's outline. */
export function MarkdownText({ text, level }: { text: string; level: number }) {
  const { tree } = useMemo(() => parsePage("text.md", text.slice(0, charactersMax).replaceAll(commitId, "$1")), [text]);
  const depth = Math.min(6, ...tree.children.flatMap((node) => (node.type === "heading" ? [node.depth] : [])));
  return (
    <TopHeading value={{ depth, level }}>
      <Markdown tree={tree} />
    </TopHeading>
  );
}
