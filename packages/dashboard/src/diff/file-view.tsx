import type { JobDiff } from "@emend/contract";
import { useMemo, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { Figures } from "../parts/status.tsx";
import { VisibleText } from "../parts/visible-text.tsx";
import { type Finding, FindingNote } from "./finding-note.tsx";
import { pairLines } from "./pair-lines.ts";
import type { DiffLine } from "./parse-patch.ts";
import { SplitRow } from "./split-row.tsx";
import { UnifiedRow } from "./unified-row.tsx";

interface FileProps {
  file: JobDiff["files"][number];
  lines: readonly DiffLine[];
  isSplit: boolean;
  beginsOpen: boolean;
  findings: readonly Finding[];
}

export function FileView(props: FileProps) {
  const [isOpen, setIsOpen] = useState(props.beginsOpen);
  const { file } = props;
  return (
    <div className="overflow-hidden rounded-md border border-line bg-sheet [contain-intrinsic-size:auto_200px] [content-visibility:auto]">
      <button
        type="button"
        aria-expanded={isOpen}
        className="flex w-full items-center gap-2 px-3 py-2 text-left -outline-offset-2 hover:bg-hush"
        onClick={() => setIsOpen(!isOpen)}
      >
        <Icon name="chevron" className={isOpen ? "rotate-90" : ""} />
        <span className="min-w-0 flex-1 font-mono text-[13px] wrap-anywhere">
          <VisibleText text={file.path} />
        </span>
        {file.change !== "modified" && (
          <span className="rounded border border-line px-1.5 text-[12px] text-quiet">{file.change}</span>
        )}
        <Figures additions={file.additions} deletions={file.deletions} />
      </button>
      {isOpen && <Lines {...props} />}
    </div>
  );
}

function Lines({ lines, isSplit, findings }: FileProps) {
  const rows = useMemo(() => pairLines(lines), [lines]);
  const byLine = useMemo(() => Map.groupBy(findings, ({ line }) => line), [findings]);
  if (rows.length === 0) return <p className="border-t border-line px-4 py-3 text-quiet">No line changed.</p>;
  const shown = new Set(lines.flatMap((line) => ("after" in line ? [line.after] : [])));
  const Row = isSplit ? SplitRow : UnifiedRow;
  return (
    <div className="overflow-x-auto border-t border-line">
      {findings
        .filter(({ line }) => !shown.has(line))
        .map((finding) => (
          <FindingNote key={`${finding.check} ${finding.line} ${finding.column}`} finding={finding} />
        ))}
      <table className="w-full border-collapse font-mono text-[13px] [tab-size:4]">
        <tbody>
          {rows.map((row, index) => {
            const after = row.right && "after" in row.right ? row.right.after : 0;
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a diff never move
            return <Row key={index} row={row} findings={byLine.get(after) ?? []} />;
          })}
        </tbody>
      </table>
    </div>
  );
}
