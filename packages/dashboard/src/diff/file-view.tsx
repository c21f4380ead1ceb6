import { type DiffLine, type DiffRow, type JobDiff, pairLines } from "@emend/contract";
import { CatchBoundary } from "@tanstack/react-router";
import { lazy, Suspense, useLayoutEffect, useMemo, useRef, useState } from "react";
import { LineCounts } from "../parts/bars.tsx";
import { Icon } from "../parts/icon.tsx";
import { Near } from "../parts/near.tsx";
import { Pending, Problem } from "../parts/notice.tsx";
import { VisibleText } from "../parts/text.tsx";
import { AtLine, columnsIn, heightOf, SplitRow, UnifiedRow } from "./diff-rows.tsx";
import { HeadButton, type LineReview, type Side } from "./file-editor.tsx";
import { type Finding, FindingNote } from "./finding-note.tsx";

/** Loaded on demand: a diff alone needs no Markdown parser. */
const loadPreview = () => import("./preview/preview.tsx");
const Preview = lazy(async () => ({ default: (await loadPreview()).Preview }));

/** The preview's code could not be loaded, or no parser accepted the page. The diff still works. */
function NoPreview() {
  return <Problem error="The preview can't be shown. Reload the page." />;
}

/** As high as the screen: what is below leaves it at the click, not when the page has loaded. */
const previewPending = (
  <div className="min-h-dvh">
    <Pending error={null} />
  </div>
);

interface FileProps {
  id: string;
  file: JobDiff["files"][number];
  /** Null if they were left out. */
  lines: readonly DiffLine[] | null;
  isSplit: boolean;
  isOpen: boolean;
  onToggle(isOpen: boolean): void;
  findings: readonly Finding[];
  /** The URL of the file after the change. */
  url: string;
  review: LineReview | undefined;
}

/** Folds a file that was viewed, and shows it again. */
function ViewedButton({
  path,
  viewed,
  onToggle,
}: {
  path: string;
  viewed: LineReview["viewed"];
  onToggle(isOpen: boolean): void;
}) {
  if (!viewed) return null;
  const isOn = viewed.paths.has(path);
  function toggle() {
    viewed?.set(path, !isOn);
    onToggle(isOn);
  }
  return (
    <HeadButton label={`Viewed ${path}`} isOn={isOn} onToggle={toggle}>
      {isOn && <Icon name="check" className="mr-1 inline text-good" />}
      Viewed
    </HeadButton>
  );
}

export function FileView(props: FileProps) {
  const { file, isOpen, lines, review } = props;
  const [isPreview, setIsPreview] = useState(false);
  const isPage = /\.(md|mdx|markdown)$/i.test(file.path) && file.change !== "deleted";
  const body = review?.bodyOf(file.path);
  return (
    <section id={props.id} aria-label={file.path} className="scroll-mt-2 rounded-md border border-line bg-sheet">
      <div
        // On a phone, the path has a line of its own.
        className="sticky top-0 z-10 flex flex-wrap items-center gap-x-2 rounded-t-md bg-sheet sm:flex-nowrap sm:pr-2"
      >
        <button
          type="button"
          aria-expanded={isOpen}
          className="flex min-w-0 flex-1 basis-full flex-wrap items-center gap-x-2 rounded-md px-3 py-2 text-left -outline-offset-2 hover:bg-hush sm:basis-0"
          onClick={() => props.onToggle(!isOpen)}
        >
          <Icon name="chevron" className={isOpen ? "rotate-90" : ""} />
          <span className="min-w-0 flex-1 basis-40 font-mono text-[13px] wrap-anywhere">
            {file.from && (
              <span className="text-quiet">
                <VisibleText text={file.from} /> →{" "}
              </span>
            )}
            <VisibleText text={file.path} />
          </span>
          <span className="ml-auto flex items-center gap-2">
            {file.change !== "modified" && (
              <span className="rounded-md border border-line px-1.5 text-[12px] text-quiet">{file.change}</span>
            )}
            <LineCounts additions={file.additions} deletions={file.deletions} />
          </span>
        </button>
        <div className="ml-auto flex items-center gap-2 px-2 pb-1 empty:hidden sm:p-0">
          {review?.actionsOf(file, lines ?? [])}
          {isPage && (
            <HeadButton
              isOn={isPreview}
              onNear={loadPreview}
              onToggle={() => {
                setIsPreview(!isPreview);
                props.onToggle(true);
              }}
            >
              Preview
            </HeadButton>
          )}
          <ViewedButton path={file.path} viewed={review?.viewed} onToggle={props.onToggle} />
        </div>
      </div>
      {isOpen && (
        <div className="overflow-hidden rounded-b-md border-t border-line">
          {body ? (
            body
          ) : isPreview ? (
            <CatchBoundary getResetKey={() => file.path} errorComponent={NoPreview}>
              <Suspense fallback={previewPending}>
                <Preview path={file.path} url={props.url} lines={lines ?? []} isNew={file.change === "added"} />
              </Suspense>
            </CatchBoundary>
          ) : lines ? (
            <FileLines
              path={file.path}
              lines={lines}
              isSplit={props.isSplit}
              findings={props.findings}
              review={review}
            />
          ) : (
            <p className="px-4 py-3 text-quiet">This file is too large to show. Clone the branch to read it.</p>
          )}
        </div>
      )}
    </section>
  );
}

const rowsPerPiece = 30;

/** A file's lines in chunks, each rendered near the viewport. Findings on hidden lines are shown above. */
function FileLines(props: {
  path: string;
  lines: readonly DiffLine[];
  isSplit: boolean;
  findings: readonly Finding[];
  review: LineReview | undefined;
}) {
  const { path, lines, isSplit, findings, review } = props;
  const rows = useMemo(() => pairLines(lines, { stacked: !isSplit }), [lines, isSplit]);
  const byLine = useMemo(() => Map.groupBy(findings, ({ line }) => line), [findings]);
  const shown = useMemo(() => new Set(lines.flatMap((line) => ("after" in line ? [line.after] : []))), [lines]);
  const removed = useMemo(
    () => new Set(lines.flatMap((line) => (line.kind === "deleted" ? [line.before] : []))),
    [lines],
  );
  const atLine = review && {
    onLine: review.onLine && ((side: Side, line: number) => review.onLine?.(path, side, line)),
    notes: (side: Side, line: number) => review.notesAt(path, side, line, lines),
    onEdit: review.onEdit && ((line: number) => review.onEdit?.(path, line)),
  };
  const ref = useRef<HTMLDivElement>(null);
  const [columns, setColumns] = useState(80);
  useLayoutEffect(() => {
    if (ref.current) setColumns(columnsIn(ref.current, isSplit));
  }, [isSplit]);
  const pieces = useMemo(
    () =>
      Array.from({ length: Math.ceil(rows.length / rowsPerPiece) }, (_, index) => {
        const piece = rows.slice(index * rowsPerPiece, (index + 1) * rowsPerPiece);
        return { piece, heightPx: heightOf(piece, { columns, isSplit, byLine }) };
      }),
    [rows, columns, isSplit, byLine],
  );
  if (rows.length === 0) return <p className="px-4 py-3 text-quiet">No lines changed.</p>;
  return (
    <div ref={ref}>
      {review?.notesAbove(path, (side, line) => (side === "after" ? shown : removed).has(line), lines)}
      {findings
        .filter(({ line }) => !shown.has(line))
        .map((finding, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
          <FindingNote key={index} finding={finding} onEdit={atLine?.onEdit} />
        ))}
      {pieces.map(({ piece, heightPx }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff never move
        <Near key={`${isSplit} ${index}`} estimatePx={heightPx}>
          {() => (
            <AtLine value={atLine ?? null}>
              <Piece rows={piece} isSplit={isSplit} byLine={byLine} />
            </AtLine>
          )}
        </Near>
      ))}
    </div>
  );
}

function Piece(props: { rows: readonly DiffRow[]; isSplit: boolean; byLine: ReadonlyMap<number, readonly Finding[]> }) {
  const Row = props.isSplit ? SplitRow : UnifiedRow;
  return (
    <table className="w-full table-fixed border-collapse font-mono text-[13px] [tab-size:4]">
      <colgroup>
        <col className="w-8 md:w-12" />
        {props.isSplit && <col />}
        <col className="w-8 md:w-12" />
        <col />
      </colgroup>
      <tbody>
        {props.rows.map((row, index) => {
          const after = row.right && "after" in row.right ? row.right.after : 0;
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff never move
          return <Row key={index} row={row} findings={props.byLine.get(after) ?? []} />;
        })}
      </tbody>
    </table>
  );
}
