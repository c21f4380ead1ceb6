import type { JobDiff } from "@emend/contract";
import { Icon } from "../parts/icon.tsx";
import { LineCounts } from "../parts/line-counts.tsx";
import { VisibleText } from "../parts/visible-text.tsx";
import type { Finding } from "./finding-note.tsx";

const openFilesMax = 8;

interface Listed {
  id: string;
  file: JobDiff["files"][number];
  findings: readonly Finding[];
}

/** Where to go in a long diff. */
export function FileList({ files, onOpen }: { files: readonly Listed[]; onOpen(path: string): void }) {
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
                <VisibleText text={each.file.path} />
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
