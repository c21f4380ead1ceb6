import type { DashboardFile, DiffLine } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { ApiError, request } from "../../api/request.ts";
import { Toggle } from "../../parts/button.tsx";
import { Pending } from "../../parts/notice.tsx";
import { type Block, type BlockRow, comparePages, passagesOf, textBefore } from "./compare-pages.ts";
import { Source } from "./component.tsx";
import { Markdown, Marked, Marks } from "./markdown.tsx";

const charactersMax = 200_000;
const views = ["After", "Before and after"] as const;
type View = (typeof views)[number];

/**
 * A changed page as readers see it, with its changed blocks marked. If its whole text is no longer stored, only the
 * passages in the diff.
 */
export function Preview(props: { path: string; url: string; lines: readonly DiffLine[]; isNew: boolean }) {
  const [view, setView] = useState<View>("After");
  // A follow-up may change the page while it is open: another diff means another text.
  const version = useMemo(() => props.lines.map(({ kind, text }) => `${kind} ${text}`).join("\n"), [props.lines]);
  const file = useQuery({
    queryKey: ["file", props.url, version],
    queryFn: ({ signal }) => request<DashboardFile>(props.url, { signal }),
  });
  const isGone = file.error instanceof ApiError && file.error.status === 404;
  const text = file.data?.text ?? null;
  const page = useMemo(() => {
    if (isGone) {
      const { lines, ...texts } = passagesOf(props.lines);
      return comparePages(props.path, texts, lines);
    }
    if (text === null) return null;
    const before = text.length > charactersMax ? null : textBefore(text, props.lines);
    const after = text.slice(0, charactersMax);
    return comparePages(props.path, { before: before ?? after, after }, before === null ? [] : props.lines);
  }, [props.path, props.lines, text, isGone]);
  if (!page) {
    return (
      // As high as while its code loads. With a key: an element that becomes the page's would count as one that moves.
      <div key="pending" className={file.error ? "" : "min-h-dvh"}>
        <Pending error={file.error} />
      </div>
    );
  }
  const isBoth = view === "Before and after" && !props.isNew;
  return (
    <div
      className={`mx-auto grid grid-cols-[minmax(0,1fr)] gap-4 px-5 py-6 text-[17px] leading-[27px] wrap-anywhere ${isBoth ? "max-w-[1280px]" : "max-w-[720px]"}`}
    >
      {!props.isNew && (
        <Toggle
          label="What to preview"
          className="justify-self-end font-sans text-[14px] leading-5"
          options={views}
          chosen={view}
          onChoose={(chosen: View) => setView(chosen)}
        />
      )}
      {isGone && (
        <p className="font-sans text-[14px] text-quiet">{file.error?.message} Only changed passages are shown.</p>
      )}
      {isBoth && (
        <p
          aria-hidden="true"
          className="hidden grid-cols-2 gap-8 font-sans text-[14px] font-semibold text-quiet md:grid"
        >
          <span>Before</span>
          <span>After</span>
        </p>
      )}
      {page.rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a parsed page never move
        <Row key={index} row={row} isBoth={isBoth} isNew={props.isNew} deleted={page.deleted} added={page.added} />
      ))}
      {text !== null && text.length > charactersMax && (
        <p className="font-sans text-[14px] text-quiet">… {text.length - charactersMax} more characters</p>
      )}
    </div>
  );
}

interface RowProps {
  row: BlockRow;
  isBoth: boolean;
  isNew: boolean;
  deleted: ReadonlySet<number>;
  added: ReadonlySet<number>;
}

const stack = "grid min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-4";

/** Side by side on a wide screen. On a narrow one what stayed is shown once, and a change as before, then after. */
function Row({ row, isBoth, isNew, deleted, added }: RowProps) {
  const after = row.after.map((block) => (
    <BlockView key={block.start} block={block} marks={row.isSame || isNew ? null : { as: "ins", lines: added }} />
  ));
  if (!isBoth) {
    if (row.after.length > 0) return after;
    return (
      <p className="border-l-3 border-del-word pl-3 font-sans text-[14px] text-quiet">
        {row.before.length} {row.before.length === 1 ? "block" : "blocks"} removed here
      </p>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-2 md:grid-cols-2">
      <div className={`${stack} ${row.isSame ? "max-md:hidden" : ""}`}>
        {row.before.map((block) => (
          <BlockView key={block.start} block={block} marks={row.isSame ? null : { as: "del", lines: deleted }} />
        ))}
      </div>
      <div className={stack}>{after}</div>
    </div>
  );
}

function BlockView({
  block,
  marks,
}: {
  block: Block;
  marks: { as: "ins" | "del"; lines: ReadonlySet<number> } | null;
}) {
  const { node, start, end, offset } = block;
  const shown =
    node === null ? (
      <Source text={block.text.split("\n").slice(1, -1).join("\n")} label="front matter" />
    ) : (
      <Markdown tree={{ type: "root", children: [node as never] }} />
    );
  if (marks === null) return shown;
  const isInside = Array.from({ length: end - start + 1 }, (_, index) => start + index).some((line) =>
    marks.lines.has(line),
  );
  // Two paragraphs that became one have no changed line in them, and yet are others.
  if (node === null || !isInside) return <Marked as={marks.as}>{shown}</Marked>;
  return <Marks value={{ ...marks, offset }}>{shown}</Marks>;
}
