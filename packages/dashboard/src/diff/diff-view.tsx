import { type JobDiff, parsePatch } from "@emend/contract";
import { memo, useMemo, useState } from "react";
import { LineCounts } from "../parts/line-counts.tsx";
import { Toggle } from "../parts/toggle.tsx";
import { FileList } from "./file-list.tsx";
import { FileView } from "./file-view.tsx";
import type { Finding } from "./finding-note.tsx";

const linesOpenMax = 20_000;
const views = ["Unified", "Side by side"] as const;

interface DiffProps {
  diff: JobDiff;
  findings: readonly Finding[];
  isSplit: boolean;
  onSplit(isSplit: boolean): void;
  /** Where the dashboard's server gives a file as the change leaves it. */
  fileUrl(path: string): string;
}

/** Every file of a diff, foldable; past a bound they begin folded. Its page changes often, and it seldom: give it what stays. */
export const DiffView = memo(function DiffView({ diff, findings, isSplit, onSplit, fileUrl }: DiffProps) {
  const files = useMemo(() => parsePatch(diff.diff), [diff.diff]);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  let linesLeft = linesOpenMax;
  const shown = diff.files.map((file, index) => {
    const lines = files[index] ?? null;
    linesLeft -= lines?.length ?? 0;
    return {
      id: `file-${index + 1}`,
      file,
      lines,
      isOpen: toggled.get(file.path) ?? linesLeft >= 0,
      findings: findings.filter(({ path }) => path === file.path),
    };
  });
  const set = (path: string, isOpen: boolean) => setToggled(new Map(toggled).set(path, isOpen));
  return (
    <section aria-label="Changes">
      <div className="flex flex-wrap items-center justify-between gap-3 pb-3">
        <h2>
          {diff.files.length} {diff.files.length === 1 ? "file" : "files"} changed{" "}
          <LineCounts additions={sum(diff, "additions")} deletions={sum(diff, "deletions")} />
        </h2>
        <Toggle
          label="How to show the diff"
          className="hidden md:flex"
          options={views}
          chosen={isSplit ? "Side by side" : "Unified"}
          onChoose={(view) => onSplit(view === "Side by side")}
        />
      </div>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
        {shown.length > 1 && <FileList files={shown} onOpen={(path) => set(path, true)} />}
        {shown.map((each) => (
          <FileView
            key={each.file.path}
            {...each}
            isSplit={isSplit}
            url={fileUrl(each.file.path)}
            onToggle={(isOpen) => set(each.file.path, isOpen)}
          />
        ))}
      </div>
    </section>
  );
});

function sum(diff: JobDiff, name: "additions" | "deletions"): number {
  return diff.files.reduce((total, file) => total + file[name], 0);
}
