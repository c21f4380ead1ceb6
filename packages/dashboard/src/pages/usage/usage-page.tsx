import type { DashboardUsage } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { usageQuery } from "../../api/project-queries.ts";
import { projectsQuery } from "../../api/queries.ts";
import { apiUrl } from "../../api/request.ts";
import { buttonLook } from "../../parts/button.tsx";
import { Chart } from "../../parts/chart.tsx";
import { addProjectLine, createJobLine } from "../../parts/commands.ts";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { durationOf } from "../../parts/duration.ts";
import { FigureRow } from "../../parts/figures.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Head, Sheet } from "../../parts/sheet.tsx";
import { Toggle } from "../../parts/toggle.tsx";
import { Breakdown } from "./breakdown.tsx";
import { formatCount, formatShare, formatUsd } from "./format.ts";

const route = getRouteApi("/usage");
const spans = ["7 days", "30 days", "90 days"] as const;
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
          With semicolons
        </a>
      </Head>
      {usage.data ? <Figures usage={usage.data} /> : <Pending error={usage.error} />}
    </>
  );
}

function Figures({ usage }: { usage: DashboardUsage }) {
  const { total, byDay } = usage;
  const points = byDay.map(({ day }) => day);
  const project = useQuery(projectsQuery).data?.[0];
  if (total.jobs === 0) {
    return (
      <Sheet>
        <Empty>
          <p>
            No jobs were created in the last {usage.days} days.{" "}
            <Link to="/" search={{}} className="underline underline-offset-3 hover:text-ink">
              Start one
            </Link>
            {project ? ", or from the command line:" : " once there is a project:"}
          </p>
          <CopyBlock text={project ? createJobLine(project.id) : addProjectLine} />
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
      <Breakdown
        by="project"
        rows={usage.byProject.map((row) => ({ key: row.projectId, name: row.project, ...row }))}
      />
      <Breakdown by="model" rows={usage.byModel.map((row) => ({ key: row.model, name: row.model, ...row }))} />
    </div>
  );
}
