import type { DashboardFile, DiffLine } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { ApiError, request } from "../../api/request.ts";
import { Pending } from "../../parts/notice.tsx";
import { Source } from "./component.tsx";
import { Markdown } from "./markdown.tsx";
import { parsePage } from "./parse-page.ts";

const charactersMax = 200_000;

/** A changed page as readers see it. If its whole text is no longer stored, only the passages in the diff. */
export function Preview(props: { path: string; url: string; lines: readonly DiffLine[] }) {
  // A follow-up may change the page while it is open: another diff means another text.
  const version = useMemo(() => props.lines.map(({ kind, text }) => `${kind} ${text}`).join("\n"), [props.lines]);
  const file = useQuery({
    queryKey: ["file", props.url, version],
    queryFn: ({ signal }) => request<DashboardFile>(props.url, { signal }),
  });
  const isGone = file.error instanceof ApiError && file.error.status === 404;
  const text = file.data?.text ?? (isGone ? passagesOf(props.lines) : null);
  const page = useMemo(
    () => (text === null ? null : parsePage(props.path, text.slice(0, charactersMax))),
    [props.path, text],
  );
  if (!page) return <Pending error={file.error} />;
  return (
    <div className="mx-auto grid max-w-[720px] grid-cols-[minmax(0,1fr)] gap-4 px-5 py-6 text-[17px] leading-[27px] wrap-anywhere">
      {isGone && (
        <p className="font-sans text-[14px] text-quiet">{file.error?.message} Only changed passages are shown.</p>
      )}
      {page.frontMatter !== null && <Source text={page.frontMatter} label="front matter" />}
      <Markdown tree={page.tree} />
      {text !== null && text.length > charactersMax && (
        <p className="font-sans text-[14px] text-quiet">… {text.length - charactersMax} more characters</p>
      )}
    </div>
  );
}

function passagesOf(lines: readonly DiffLine[]): string {
  return lines
    .map((line) => {
      if (line.kind === "hunk") return "\n\n---\n\n";
      return line.kind === "context" || line.kind === "added" ? `${line.text}\n` : "";
    })
    .join("")
    .replace(/^\s*---\s*/, "");
}
