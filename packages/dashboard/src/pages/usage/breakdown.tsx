import type { DashboardUsageFigures } from "@emend/contract";
import { durationOf } from "../../parts/duration.ts";
import { RankedBars } from "../../parts/ranked-bars.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { formatCount, formatUsd } from "./format.ts";
import { UsageTable } from "./usage-table.tsx";

export type UsageRow = DashboardUsageFigures & { key: string; name: string };

interface Measure {
  word: string;
  of(row: UsageRow): number | null;
  format(value: number): string;
  /** Of a share: it is told of the whole, not of the largest. */
  full?: number;
}

const measures: readonly Measure[] = [
  { word: "Jobs", of: (row) => row.jobs, format: formatCount },
  { word: "Success", of: shareOf, format: (share) => `${Math.round(share * 100)} %`, full: 1 },
  { word: "Tokens", of: (row) => row.inputTokens + row.outputTokens, format: formatCount },
  { word: "Cost", of: (row) => row.costUsd, format: formatUsd },
  { word: "Median time", of: (row) => row.medianMs, format: durationOf },
];

/** The same figures by project or by model: to compare at a glance, and as a table to read. */
export function Breakdown({ by, rows }: { by: "project" | "model"; rows: readonly UsageRow[] }) {
  return (
    <section aria-label={`By ${by}`} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2>By {by}</h2>
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-6 p-4 sm:grid-cols-2 lg:grid-cols-5">
        {measures.map(({ word, of, format, full }) => (
          <RankedBars
            key={word}
            title={word}
            by={by}
            bars={rows.map((row) => ({ key: row.key, name: row.name, value: of(row) }))}
            format={format}
            {...(full !== undefined && { full })}
          />
        ))}
      </Sheet>
      <details>
        <summary className="text-quiet">As a table</summary>
        <UsageTable title={`By ${by}`} rows={rows} />
      </details>
    </section>
  );
}

function shareOf({ completed, failed }: UsageRow): number | null {
  return completed + failed === 0 ? null : completed / (completed + failed);
}
