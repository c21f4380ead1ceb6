import type { JobRun } from "@emend/contract";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

const fewMax = 8;

/** The lines that the change is founded on. */
export function Sources({ run }: { run: JobRun }) {
  if (run.sources.length === 0) return null;
  return (
    <Sheet className="px-4 py-3">
      <details open={run.sources.length <= fewMax}>
        <summary className="text-quiet">
          {run.sources.length} {run.sources.length === 1 ? "source" : "sources"}
        </summary>
        <ul className="grid gap-1 pt-2">
          {run.sources.map(({ repository, path, line, commit }) => (
            <li key={`${repository} ${path} ${line} ${commit}`} className="wrap-anywhere">
              <code>
                <VisibleText text={repository === null ? path : `@${repository}/${path}`} />:{line}
              </code>{" "}
              <span className="text-quiet">at {commit.slice(0, 10)}</span>
            </li>
          ))}
        </ul>
      </details>
    </Sheet>
  );
}
