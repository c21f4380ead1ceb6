import type { DashboardPull } from "@emend/contract";
import { Age, VisibleText } from "../../parts/text.tsx";

/** What was done on the branch, oldest first. */
export function Commits({ commits }: Pick<DashboardPull, "commits">) {
  if (commits.length === 0) return null;
  return (
    <details className="mb-3 rounded-md border border-line bg-sheet">
      <summary className="px-3 py-2 font-semibold -outline-offset-2 hover:bg-hush">
        {commits.length} {commits.length === 1 ? "commit" : "commits"}
      </summary>
      <ol className="max-h-72 divide-y divide-line overflow-y-auto border-t border-line">
        {commits.map(({ id, subject, author, at }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-3 px-3 py-1.5">
            <span className="min-w-0 flex-1 basis-60 wrap-anywhere">
              <VisibleText text={subject} />
            </span>
            <span className="text-quiet">
              <VisibleText text={author} />
            </span>
            <code className="text-quiet">{id.slice(0, 10)}</code>
            <span className="text-quiet">
              <Age at={at} />
            </span>
          </li>
        ))}
      </ol>
    </details>
  );
}
