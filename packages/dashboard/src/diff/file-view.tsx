import type { DiffLine, JobDiff } from "@emend/contract";
import { CatchBoundary } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { Icon } from "../parts/icon.tsx";
import { LineCounts } from "../parts/line-counts.tsx";
import { Problem } from "../parts/notice.tsx";
import { VisibleText } from "../parts/visible-text.tsx";
import { FileLines } from "./file-lines.tsx";
import type { Finding } from "./finding-note.tsx";

/** Who looks at diffs alone never loads a Markdown parser. */
const Preview = lazy(async () => ({ default: (await import("./preview/preview.tsx")).Preview }));

/** Its code could not be fetched, or no parser took the page: the diff itself is still there. */
function NoPreview() {
  return <Problem error="The preview can't be shown. Reload the page." />;
}

interface FileProps {
  id: string;
  file: JobDiff["files"][number];
  /** Null where they were left off. */
  lines: readonly DiffLine[] | null;
  isSplit: boolean;
  isOpen: boolean;
  onToggle(isOpen: boolean): void;
  findings: readonly Finding[];
  /** Where the file is, as the change leaves it. */
  url: string;
}

export function FileView(props: FileProps) {
  const { file, isOpen, lines } = props;
  const [isPreview, setIsPreview] = useState(false);
  const isPage = /\.(md|mdx|markdown)$/i.test(file.path) && file.change !== "deleted";
  return (
    <section id={props.id} aria-label={file.path} className="scroll-mt-2 rounded-md border border-line bg-sheet">
      <div className="sticky top-0 z-10 flex items-center gap-2 rounded-t-md bg-sheet pr-2">
        <button
          type="button"
          aria-expanded={isOpen}
          className="flex min-w-0 flex-1 flex-wrap items-center gap-x-2 rounded-md px-3 py-2 text-left -outline-offset-2 hover:bg-hush"
          onClick={() => props.onToggle(!isOpen)}
        >
          <Icon name="chevron" className={isOpen ? "rotate-90" : ""} />
          <span className="min-w-0 flex-1 basis-40 font-mono text-[13px] wrap-anywhere">
            <VisibleText text={file.path} />
          </span>
          <span className="ml-auto flex items-center gap-2">
            {file.change !== "modified" && (
              <span className="rounded-md border border-line px-1.5 text-[12px] text-quiet">{file.change}</span>
            )}
            <LineCounts additions={file.additions} deletions={file.deletions} />
          </span>
        </button>
        {isPage && (
          <button
            type="button"
            aria-pressed={isPreview}
            className="rounded-md px-2 py-1 text-quiet hover:text-ink aria-pressed:bg-hush aria-pressed:text-ink"
            onClick={() => {
              setIsPreview(!isPreview);
              props.onToggle(true);
            }}
          >
            Preview
          </button>
        )}
      </div>
      {isOpen && (
        <div className="overflow-hidden rounded-b-md border-t border-line">
          {isPreview ? (
            <CatchBoundary getResetKey={() => file.path} errorComponent={NoPreview}>
              <Suspense fallback={<p className="told-late px-4 py-3 text-quiet">Loading …</p>}>
                <Preview path={file.path} url={props.url} lines={lines ?? []} />
              </Suspense>
            </CatchBoundary>
          ) : lines ? (
            <FileLines lines={lines} isSplit={props.isSplit} findings={props.findings} />
          ) : (
            <p className="px-4 py-3 text-quiet">This file is too large to show. Clone the branch to read it.</p>
          )}
        </div>
      )}
    </section>
  );
}
