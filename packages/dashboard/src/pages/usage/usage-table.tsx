import { durationOf } from "../../parts/duration.ts";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import type { UsageRow } from "./breakdown.tsx";
import { formatCount, formatShare, formatUsd } from "./format.ts";

const columns: readonly { word: string; of(row: UsageRow): string }[] = [
  { word: "Jobs", of: (row) => formatCount(row.jobs) },
  { word: "Success", of: (row) => formatShare(row.completed, row.completed + row.failed) },
  { word: "Merged", of: (row) => `${formatCount(row.merged)} of ${formatCount(row.pullRequests)}` },
  { word: "Tokens", of: (row) => formatCount(row.inputTokens + row.outputTokens) },
  { word: "Cost", of: (row) => formatUsd(row.costUsd) },
  { word: "Median time", of: (row) => (row.medianMs === null ? "–" : durationOf(row.medianMs)) },
];

export function UsageTable({ title, rows }: { title: string; rows: readonly UsageRow[] }) {
  return (
    <div className="pt-2">
      <Sheet>
        <ScrollBox label={title}>
          <table className="w-full text-right">
            <caption className="sr-only">{title}</caption>
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
