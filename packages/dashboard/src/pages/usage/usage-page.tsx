import type { DashboardUsage, DashboardUsageFigures } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { usageQuery } from "../../api/project-queries.ts";
import { apiUrl } from "../../api/request.ts";
import { FigureRow, RankedBars } from "../../parts/bars.tsx";
import { buttonLook, Toggle } from "../../parts/button.tsx";
import { Chart } from "../../parts/chart.tsx";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { durationOf } from "../../parts/format.ts";
import { Empty, Pending } from "../../parts/notice.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { VisibleText } from "../../parts/text.tsx";

const route = getRouteApi("/usage");
const spans = ["7 days", "30 days", "90 days"] as const;
/** As many as the server shows. */
const projectsShownMax = 50;
const daysOf = (span: string) => Number.parseInt(span, 10);

export function UsagePage() {
  const { days: asked } = route.useSearch();
  const navigate = useNavigate();
  const chosen = spans.find((span) => span === `${asked} days`) ?? "30 days";
  const days = daysOf(chosen);
  const usage = useQuery(usageQuery(days));
  return (
    <>
      <title>Usage · Emend</title>
      <Head title="Usage">
        <Toggle
          label="How far back"
          options={spans}
          chosen={chosen}
          onChoose={(span) => navigate({ to: "/usage", search: { days: daysOf(span) }, replace: true })}
        />
        <a href={apiUrl(`/usage.csv?days=${days}`)} download className={buttonLook("ordinary")}>
          Download CSV
        </a>
        <a
          href={apiUrl(`/usage.csv?days=${days}&separator=semicolon`)}
          download
          className={buttonLook("ordinary")}
          title="For spreadsheets that use decimal commas and semicolons"
        >
          CSV with semicolons
        </a>
      </Head>
      {usage.data ? <Figures usage={usage.data} /> : <Pending error={usage.error} />}
    </>
  );
}

function Figures({ usage }: { usage: DashboardUsage }) {
  const { total, byDay } = usage;
  const points = byDay.map(({ day }) => day);
  if (total.jobs === 0) {
    return (
      <Sheet>
        <Empty>
          <p>
            No jobs were created in the last {usage.days} days.{" "}
            <Link to="/" search={{}} className="underline underline-offset-3 hover:text-ink">
              Start one
            </Link>
            .
          </p>
        </Empty>
      </Sheet>
    );
  }
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <FigureRow
        figures={[
          { word: "Jobs", figure: formatCount(total.jobs) },
          {
            word: "Success",
            figure: formatShare(total.completed, total.completed + total.failed),
            note: `${formatCount(total.failed)} failed`,
          },
          {
            word: "Pull requests",
            figure: formatCount(total.pullRequests),
            note: `${formatCount(total.merged)} merged`,
          },
          {
            word: "Tokens",
            figure: formatCount(total.inputTokens + total.outputTokens),
            note: `${formatCount(total.outputTokens)} written`,
          },
          { word: "Cost", figure: formatUsd(total.costUsd) },
          { word: "Median time", figure: total.medianMs === null ? "–" : durationOf(total.medianMs) },
        ]}
      />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 lg:grid-cols-2">
        <Sheet className="p-4 lg:col-span-2">
          <Chart
            title="Jobs per day"
            kind="bars"
            points={points}
            series={[
              { name: "completed", colour: "text-good", values: byDay.map((each) => each.completed) },
              { name: "failed", colour: "text-bad", values: byDay.map((each) => each.failed) },
              {
                name: "running",
                colour: "text-quiet",
                values: byDay.map((each) => each.jobs - each.completed - each.failed),
              },
            ]}
          />
        </Sheet>
        <Sheet className="p-4">
          <Chart
            title="Tokens per day"
            kind="bars"
            points={points}
            format={formatCount}
            series={[
              { name: "read", colour: "text-quiet", values: byDay.map((each) => each.inputTokens) },
              { name: "written", colour: "text-ink", values: byDay.map((each) => each.outputTokens) },
            ]}
          />
        </Sheet>
        <Sheet className="p-4">
          <Chart
            title="Cost per day"
            kind="bars"
            points={points}
            format={formatUsd}
            series={[{ name: "cost", colour: "text-ink", values: byDay.map((each) => each.costUsd) }]}
          />
        </Sheet>
      </div>
      <p className="text-quiet">Days are in UTC. A job counts on the day it was created.</p>
      {usage.byProject.length >= projectsShownMax && (
        <p className="text-quiet">
          Below are the {projectsShownMax} projects with the most jobs and the {projectsShownMax} with the highest cost.
          The CSV file has all.
        </p>
      )}
      <Breakdown
        by="project"
        rows={usage.byProject.map((row) => ({ key: row.projectId, name: row.project, ...row }))}
      />
      <Breakdown by="model" rows={usage.byModel.map((row) => ({ key: row.model, name: row.model, ...row }))} />
    </div>
  );
}

export type UsageRow = DashboardUsageFigures & { key: string; name: string };

interface Measure {
  word: string;
  of(row: UsageRow): number | null;
  format(value: number): string;
  /** For a share: relative to the whole, not to the largest. */
  full?: number;
}

const measures: readonly Measure[] = [
  { word: "Jobs", of: (row) => row.jobs, format: formatCount },
  { word: "Success", of: shareOf, format: (share) => `${Math.round(share * 100)} %`, full: 1 },
  { word: "Tokens", of: (row) => row.inputTokens + row.outputTokens, format: formatCount },
  { word: "Cost", of: (row) => row.costUsd, format: formatUsd },
  { word: "Median time", of: (row) => row.medianMs, format: durationOf },
];

/** The figures by project or by model: as bars and as a table. */
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

export function formatCount(value: number): string {
  if (value < 10_000) return String(Math.round(value));
  if (value < 999_500) return `${trim(value / 1000)} k`;
  return `${trim(value / 1_000_000)} M`;
}

export function formatUsd(value: number): string {
  return value === 0 ? "$0" : value < 0.01 ? "< $0.01" : `$${value.toFixed(2)}`;
}

/** "93 %" of finished jobs; a dash if there are none. */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "–" : `${Math.round((part / whole) * 100)} %`;
}

function trim(value: number): string {
  return value < 100 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}
