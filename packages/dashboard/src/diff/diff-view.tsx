import type { JobDiff, JobRun } from "@emend/contract";
import { useMemo } from "react";
import { Figures } from "../parts/status.tsx";
import { FileView } from "./file-view.tsx";
import { parsePatch } from "./parse-patch.ts";

type Findings = NonNullable<JobRun["findings"]>["introduced"];
const linesOpenMax = 5_000;

interface DiffProps {
  diff: JobDiff;
  findings: Findings;
  isSplit: boolean;
  onSplit(isSplit: boolean): void;
}

/** Every file of a diff, foldable; past a bound they begin folded, and cost nothing until they are opened. */
export function DiffView({ diff, findings, isSplit, onSplit }: DiffProps) {
  const files = useMemo(() => parsePatch(diff.diff), [diff.diff]);
  let linesLeft = linesOpenMax;
  return (
    <section aria-label="Changes">
      <div className="flex flex-wrap items-center justify-between gap-3 pb-3">
        <h2>
          {diff.files.length} {diff.files.length === 1 ? "file" : "files"} changed{" "}
          <Figures additions={sum(diff, "additions")} deletions={sum(diff, "deletions")} />
        </h2>
        <fieldset className="hidden rounded-md border border-line bg-sheet p-0.5 md:flex">
          <legend className="sr-only">How to show the diff</legend>
          {[false, true].map((split) => (
            <button
              key={String(split)}
              type="button"
              aria-pressed={isSplit === split}
              className="rounded px-2.5 py-1 text-quiet aria-pressed:bg-hush aria-pressed:font-semibold aria-pressed:text-ink"
              onClick={() => onSplit(split)}
            >
              {split ? "Side by side" : "Unified"}
            </button>
          ))}
        </fieldset>
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {diff.files.map((file, index) => {
          const lines = files[index] ?? [];
          linesLeft -= lines.length;
          return (
            <FileView
              key={file.path}
              file={file}
              lines={lines}
              isSplit={isSplit}
              beginsOpen={linesLeft >= 0}
              findings={findings.filter(({ path }) => path === file.path)}
            />
          );
        })}
      </div>
    </section>
  );
}

function sum(diff: JobDiff, name: "additions" | "deletions"): number {
  return diff.files.reduce((total, file) => total + file[name], 0);
}
