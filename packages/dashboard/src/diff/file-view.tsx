import type { DiffLine, JobDiff } from "@emend/contract";
import { Icon } from "../parts/icon.tsx";
import { Figures } from "../parts/status.tsx";
import { VisibleText } from "../parts/visible-text.tsx";
import { FileLines } from "./file-lines.tsx";
import type { Finding } from "./finding-note.tsx";

interface FileProps {
  id: string;
  file: JobDiff["files"][number];
  /** Null where they were left off. */
  lines: readonly DiffLine[] | null;
  isSplit: boolean;
  isOpen: boolean;
  onToggle(): void;
  findings: readonly Finding[];
}

export function FileView(props: FileProps) {
  const { file, isOpen, lines } = props;
  return (
    <section id={props.id} aria-label={file.path} className="rounded-md border border-line bg-sheet">
      <div className="sticky top-0 z-10 flex items-center rounded-t-md bg-sheet pr-3">
        <button
          type="button"
          aria-expanded={isOpen}
          className="flex min-w-0 flex-1 items-center gap-2 rounded-md px-3 py-2 text-left -outline-offset-2 hover:bg-hush"
          onClick={props.onToggle}
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
      </div>
      {isOpen && (
        <div className="overflow-hidden rounded-b-md border-t border-line">
          {lines ? (
            <FileLines lines={lines} isSplit={props.isSplit} findings={props.findings} />
          ) : (
            <p className="px-4 py-3 text-quiet">Too much to show here: clone the branch to read this file.</p>
          )}
        </div>
      )}
    </section>
  );
}
