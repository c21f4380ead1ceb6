import type { DashboardUsageFigures } from "@emend/contract";
import { durationOf } from "../../parts/age.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { formatCount, formatShare, formatUsd } from "./format.ts";

type Row = DashboardUsageFigures & { key: string; name: string };

const columns: readonly { word: string; of(row: Row): string }[] = [
  { word: "Jobs", of: (row) => formatCount(row.jobs) },
  { word: "Success", of: (row) => formatShare(row.completed, row.completed + row.failed) },
  { word: "Merged", of: (row) => `${formatCount(row.merged)} of ${formatCount(row.pullRequests)}` },
  { word: "Tokens", of: (row) => formatCount(row.inputTokens + row.outputTokens) },
  { word: "Cost", of: (row) => formatUsd(row.costUsd) },
  { word: "Median time", of: (row) => (row.medianMs === null ? "–" : durationOf(row.medianMs)) },
];

/** With a bar behind each name: its share of the jobs. */
export function UsageTable({ title, rows }: { title: string; rows: readonly Row[] }) {
  const most = Math.max(1, ...rows.map(({ jobs }) => jobs));
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2>{title}</h2>
      <Sheet>
        <ScrollBox label={title}>
          <table className="w-full text-right">
            <thead>
              <tr className="border-b border-line text-quiet">
                <th scope="col" className="px-4 py-2 text-left font-normal">
                  {title.replace("By ", "").replace(/^./, (letter) => letter.toUpperCase())}
                </th>
                {columns.map(({ word }) => (
                  <th key={word} scope="col" className="px-4 py-2 font-normal whitespace-nowrap">
                    {word}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {rows.map((row) => (
                <tr key={row.key}>
                  <th scope="row" className="max-w-80 min-w-40 px-4 py-2 text-left font-medium">
                    <span className="block truncate">
                      <VisibleText text={row.name} />
                    </span>
                    <svg viewBox="0 0 100 2" preserveAspectRatio="none" className="h-0.5 w-full" aria-hidden="true">
                      <rect width={(row.jobs / most) * 100} height="2" className="fill-quiet" />
                    </svg>
                  </th>
                  {columns.map(({ word, of }) => (
                    <td key={word} className="px-4 py-2 whitespace-nowrap">
                      {of(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      </Sheet>
    </div>
  );
}
