import { type DiffLine, type DiffRow, pairLines } from "@emend/contract";
import { useMemo } from "react";
import { Near } from "../parts/near.tsx";
import { type Finding, FindingNote } from "./finding-note.tsx";
import { SplitRow } from "./split-row.tsx";
import { UnifiedRow } from "./unified-row.tsx";

const rowsPerPiece = 30;
const rowPx = 20;

/** A file's lines in pieces, each made as it comes near; findings of lines that are not shown stand above. */
export function FileLines(props: { lines: readonly DiffLine[]; isSplit: boolean; findings: readonly Finding[] }) {
  const { lines, isSplit, findings } = props;
  const rows = useMemo(() => pairLines(lines, { stacked: !isSplit }), [lines, isSplit]);
  const byLine = useMemo(() => Map.groupBy(findings, ({ line }) => line), [findings]);
  const shown = useMemo(() => new Set(lines.flatMap((line) => ("after" in line ? [line.after] : []))), [lines]);
  if (rows.length === 0) return <p className="px-4 py-3 text-quiet">No lines changed.</p>;
  const pieces = Array.from({ length: Math.ceil(rows.length / rowsPerPiece) }, (_, index) =>
    rows.slice(index * rowsPerPiece, (index + 1) * rowsPerPiece),
  );
  return (
    <>
      {findings
        .filter(({ line }) => !shown.has(line))
        .map((finding, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
          <FindingNote key={index} finding={finding} />
        ))}
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff never move
        <Near key={`${isSplit} ${index}`} estimatePx={linesOf(piece, isSplit) * rowPx}>
          {() => <Piece rows={piece} isSplit={isSplit} byLine={byLine} />}
        </Near>
      ))}
    </>
  );
}

function linesOf(rows: readonly DiffRow[], isSplit: boolean): number {
  return rows.reduce((lines, row) => lines + (row.isEdited && !isSplit ? 2 : 1), 0);
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
