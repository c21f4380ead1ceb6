import { type JobDiff, parsePatch } from "@emend/contract";
import { memo, useMemo, useRef, useState } from "react";
import { LineCounts } from "../parts/bars.tsx";
import { Toggle } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import { VisibleText } from "../parts/text.tsx";
import type { LineReview } from "./file-editor.tsx";
import { FileView } from "./file-view.tsx";
import type { Finding } from "./finding-note.tsx";

const linesOpenMax = 20_000;
const views = ["Unified", "Side by side"] as const;

interface DiffProps {
  diff: JobDiff;
  findings: readonly Finding[];
  isSplit: boolean;
  onSplit(isSplit: boolean): void;
  /** The URL of a file after the change. */
  fileUrl(path: string): string;
  title?: string;
  review?: LineReview | undefined;
  /** It grows while somebody looks: files stay in the order in which they came, and nothing comes above them. */
  isLive?: boolean;
}

/** All files of a diff, foldable; large diffs start folded. Memoized, because its page renders often. */
export const DiffView = memo(function DiffView({
  diff,
  findings,
  isSplit,
  onSplit,
  fileUrl,
  title,
  review,
  isLive = false,
}: DiffProps) {
  const files = useMemo(() => parsePatch(diff.diff), [diff.diff]);
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  // As it was at the start: a file that changes while somebody reads it is not folded or unfolded by it.
  const [viewedFirst] = useState(review?.viewed?.paths);
  const isViewed = (path: string) => viewedFirst?.has(path) ?? false;
  let linesLeft = linesOpenMax;
  const shown = diff.files.map((file, index) => {
    const lines = files[index]?.lines ?? null;
    linesLeft -= lines?.length ?? 0;
    return {
      id: `file-${index + 1}`,
      file,
      lines,
      isOpen: toggled.get(file.path) ?? (linesLeft >= 0 && !isViewed(file.path)),
      findings: findings.filter(({ path }) => path === file.path),
    };
  });
  const seen = useRef({ paths: [] as string[], count: 0 });
  function inOrder(all: typeof shown): typeof shown {
    if (!isLive) return all;
    const now = new Set(all.map(({ file }) => file.path));
    // Another change, such as a round's own after the whole: it begins anew instead of moving files that both have.
    if (seen.current.paths.some((path) => !now.has(path))) seen.current = { paths: [], count: seen.current.count + 1 };
    const { paths } = seen.current;
    for (const path of now) if (!paths.includes(path)) paths.push(path);
    return all.toSorted((a, b) => paths.indexOf(a.file.path) - paths.indexOf(b.file.path));
  }
  const ordered = inOrder(shown);
  const set = (path: string, isOpen: boolean) => setToggled(new Map(toggled).set(path, isOpen));
  return (
    <section aria-label="Changes">
      <div className="flex flex-wrap items-center justify-between gap-3 pb-3">
        <h2>
          {diff.files.length} {diff.files.length === 1 ? "file" : "files"} {title ?? "changed"}{" "}
          <LineCounts additions={sum(diff, "additions")} deletions={sum(diff, "deletions")} />
          {review?.viewed && diff.files.length > 1 && (
            <span className="font-normal text-quiet">
              {" · "}
              {diff.files.filter(({ path }) => review.viewed?.paths.has(path)).length} of {diff.files.length} viewed
            </span>
          )}
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
        {shown.length > 1 && !isLive && <FileList files={shown} onOpen={(path) => set(path, true)} />}
        {ordered.map((each) => (
          <FileView
            key={`${seen.current.count} ${each.file.path}`}
            {...each}
            isSplit={isSplit}
            review={review}
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

const openFilesMax = 8;

interface Listed {
  id: string;
  file: JobDiff["files"][number];
  findings: readonly Finding[];
}

/** The list of files of a long diff. */
function FileList({ files, onOpen }: { files: readonly Listed[]; onOpen(path: string): void }) {
  function go({ id, file }: Listed) {
    onOpen(file.path);
    const target = document.getElementById(id);
    target?.scrollIntoView({ block: "start" });
    target?.querySelector("button")?.focus({ preventScroll: true });
  }
  return (
    <details open={files.length <= openFilesMax} className="rounded-md border border-line bg-sheet">
      <summary className="px-3 py-2 font-semibold -outline-offset-2 hover:bg-hush">Files</summary>
      <ul className="max-h-72 overflow-y-auto border-t border-line py-1">
        {files.map((each) => (
          <li key={each.file.path}>
            <button
              type="button"
              className="flex w-full items-center gap-3 px-3 py-1 text-left -outline-offset-2 hover:bg-hush"
              onClick={() => go(each)}
            >
              <span className="min-w-0 flex-1 truncate font-mono text-[13px]">
                <VisibleText text={each.file.from ? `${each.file.from} → ${each.file.path}` : each.file.path} />
              </span>
              {each.findings.length > 0 && (
                <span className="inline-flex items-center gap-1 whitespace-nowrap text-warn">
                  <Icon name="warning" />
                  {each.findings.length} {each.findings.length === 1 ? "finding" : "findings"}
                </span>
              )}
              {each.file.change !== "modified" && <span className="text-quiet">{each.file.change}</span>}
              <LineCounts additions={each.file.additions} deletions={each.file.deletions} />
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
