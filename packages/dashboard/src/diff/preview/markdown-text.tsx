import { useMemo } from "react";
import { Markdown } from "./markdown.tsx";
import { parsePage } from "./parse-page.ts";

const charactersMax = 65_536;

/** Markdown by people, such as a pull request's text. */
export function MarkdownText({ text }: { text: string }) {
  const { tree } = useMemo(() => parsePage("text.md", text.slice(0, charactersMax)), [text]);
  return <Markdown tree={tree} />;
}
