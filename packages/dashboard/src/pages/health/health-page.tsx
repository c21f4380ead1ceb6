import type { DashboardHealth, DashboardProject, DashboardSiteCheck, DashboardSuggestion } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { healthQuery } from "../../api/project-queries.ts";
import { ProjectSelect, projectsQuery, useProjectChoices, useProjects } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { FigureRow } from "../../parts/bars.tsx";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Chart } from "../../parts/chart.tsx";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { askOf, localTime } from "../../parts/format.ts";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { Findings } from "./findings.tsx";
import { Truth } from "./truth.tsx";
import { useStartJob } from "./use-start-job.ts";

const route = getRouteApi("/health");

export function HealthPage() {
  const { project: chosenId } = route.useSearch();
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery);
  const chosen = useProjects(chosenId ? [chosenId] : []);
  const choices = useProjectChoices(chosenId ? [chosenId] : []);
  if (!projects.data || chosen.isPending) return <Pending error={chosen.error} />;
  const project = chosen.found.get(chosenId ?? "") ?? projects.data[0];
  return (
    <>
      <title>Site health · Emend</title>
      {project ? (
        <Health project={project}>
          {projects.data.length > 1 && (
            <ProjectSelect
              choices={choices}
              label="Project"
              className="min-w-0 flex-1 sm:max-w-60"
              value={project.id}
              onChoose={(id) => navigate({ to: "/health", search: { project: id } })}
            />
          )}
        </Health>
      ) : (
        <>
          <Head title="Site health" />
          <Sheet>
            <Empty>
              <p>
                No projects yet.{" "}
                <Link to="/projects/new" className="underline underline-offset-3 hover:text-ink">
                  Add a project
                </Link>
                .
              </p>
            </Empty>
          </Sheet>
        </>
      )}
    </>
  );
}

function Health({ project, children }: { project: DashboardProject; children: React.ReactNode }) {
  const health = useQuery(healthQuery(project.id));
  const mayWrite = useMayWrite();
  const latest = health.data?.checks.at(-1);
  return (
    <>
      <Head title="Site health">
        {children}
        {mayWrite && <CheckNow key={project.id} projectId={project.id} />}
      </Head>
      {!health.data && <Pending error={health.error} />}
      {health.data && (
        // A new project remounts everything except the select, which keeps the focus.
        <div key={project.id} className="grid grid-cols-[minmax(0,1fr)] gap-6">
          {health.data.problem && <Problem error={`The last check failed: ${health.data.problem.words}`} />}
          {!latest && (
            <Sheet>
              <Empty>
                <p>{health.data.isChecking ? "This site is being checked." : "This site has not been checked yet."}</p>
              </Empty>
            </Sheet>
          )}
          {latest && (
            <>
              <Trend checks={health.data.checks} isChecking={health.data.isChecking} />
              <Truth projectId={project.id} health={health.data} />
              {mayWrite && <Fixes projectId={project.id} fixes={withoutPageFixes(health.data)} />}
              <Findings projectId={project.id} findings={health.data.findings} latest={latest} />
            </>
          )}
        </div>
      )}
    </>
  );
}

const pollEveryMs = 500;
const patienceMs = 60_000;

/** Asks a worker for a check, and waits for its result. */
export function CheckNow({ projectId }: { projectId: string }) {
  const queries = useQueryClient();
  const left = useRef(new AbortController());
  useEffect(() => {
    left.current = new AbortController();
    return () => left.current.abort();
  }, []);
  const check = useMutation({
    async mutationFn() {
      const { signal } = left.current;
      const seen = markOf(await queries.fetchQuery({ ...healthQuery(projectId), staleTime: 0 }));
      await request(`/projects/${projectId}/health/check`, { body: {} });
      const endsAt = Date.now() + patienceMs;
      // Stops waiting if the person leaves the page, which shows the result later.
      while (Date.now() < endsAt && !signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
        if (markOf(await queries.fetchQuery({ ...healthQuery(projectId), staleTime: 0 })) !== seen) return;
      }
      if (!signal.aborted) throw new Error("Waiting for a worker. Results appear here when the check is done.");
    },
  });
  return (
    <span className="flex flex-wrap items-center gap-3">
      {check.error && (
        <span role="alert" className="text-bad">
          {check.error.message}
        </span>
      )}
      <Button disabled={check.isPending} onClick={() => check.mutate()}>
        {check.isPending ? "Checking …" : "Check now"}
      </Button>
    </span>
  );
}

/** Changes with every check, whatever its result. */
function markOf(health: { checks: readonly { checkedAt: string }[]; problem: { at: string } | null }): string {
  return `${health.checks.at(-1)?.checkedAt} ${health.problem?.at}`;
}

/** A page that is out of step has its own button for the same job. */
function withoutPageFixes({ fixes, truth }: Pick<DashboardHealth, "fixes" | "truth">): readonly DashboardSuggestion[] {
  const own = new Set(truth.map(({ fix }) => ("prompt" in fix ? fix.prompt : null)));
  return fixes.filter(({ prompt }) => !own.has(prompt));
}

/** Suggested jobs for the findings: one click starts one. */
export function Fixes({ projectId, fixes }: { projectId: string; fixes: readonly DashboardSuggestion[] }) {
  const start = useStartJob(projectId);
  if (fixes.length === 0) return null;
  const first = fixes.find(({ isVain, underWay }) => !isVain && !underWay);
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Fixes">
      <h2>Fixes</h2>
      <Problem error={start.error} />
      <Sheet>
        <ul className="divide-y divide-line">
          {fixes.map((fix) => (
            <li key={fix.prompt} className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-4 py-3">
              <div className="min-w-0 flex-1 basis-60">
                <p className="line-clamp-2 text-[16px] leading-6 wrap-anywhere">
                  <VisibleText text={askOf(fix.prompt)} />
                </p>
                <p className="text-quiet">
                  {fix.because}
                  {fix.isVain && ". Open each one below and say where it should lead."}
                </p>
              </div>
              {fix.underWay && (
                <Link to="/jobs/$id" params={{ id: fix.underWay.jobId }} className={buttonLook("ordinary")}>
                  {fix.underWay.number === null ? "In progress" : `Waits in pull request #${fix.underWay.number}`}
                </Link>
              )}
              {!fix.isVain && !fix.underWay && (
                <Button
                  look={fix === first ? "primary" : "ordinary"}
                  disabled={start.isPending}
                  aria-label={`Start job: ${askOf(fix.prompt).split("\n", 1)[0]}`}
                  onClick={() => start.mutate(fix.prompt)}
                >
                  Start job
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Sheet>
    </section>
  );
}

/** In their makers' spelling. */
const frameworkNames: Readonly<Record<string, string>> = {
  docusaurus: "Docusaurus",
  gitbook: "GitBook",
  markdown: "Markdown",
  mintlify: "Mintlify",
  mkdocs: "MkDocs",
  nextra: "Nextra",
  starlight: "Starlight",
  vitepress: "VitePress",
};

/** The site's health over time. */
export function Trend({ checks, isChecking }: { checks: readonly DashboardSiteCheck[]; isChecking: boolean }) {
  const counts = checks.map(countsOf);
  const [latest, now] = [checks.at(-1), counts.at(-1)];
  if (!latest || !now) return null;
  return (
    <>
      <FigureRow
        figures={[
          { word: "Pages", figure: latest.pages, note: frameworkNames[latest.framework] ?? latest.framework },
          { word: "Broken links", figure: now.broken, note: "links and anchors" },
          { word: "Unlisted pages", figure: now.orphans, note: "in no navigation" },
          { word: "Other errors", figure: now.errors },
          { word: "Other warnings", figure: now.warnings },
        ]}
      />
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-3 p-4">
        <Chart
          title="Findings over time"
          kind="lines"
          points={checks.map(({ checkedAt }) => localTime(checkedAt))}
          series={[
            { name: "broken links", colour: "text-bad", values: counts.map(({ broken }) => broken) },
            { name: "unlisted pages", colour: "text-warn", dash: "6 3", values: counts.map(({ orphans }) => orphans) },
            { name: "other errors", colour: "text-ink", dash: "2 3", values: counts.map(({ errors }) => errors) },
            {
              name: "other warnings",
              colour: "text-quiet",
              dash: "8 3 2 3",
              values: counts.map(({ warnings }) => warnings),
            },
          ]}
        />
        <p className="text-quiet">
          Checked <Age at={latest.checkedAt} />: <code>{latest.branch}</code> at{" "}
          <code>{latest.commit.slice(0, 10)}</code>.{" "}
          <span role="status">
            {isChecking
              ? "Emend is checking it again now …"
              : "Emend checks daily, after each job and after each merge."}
          </span>
        </p>
      </Sheet>
    </>
  );
}

interface HealthCounts {
  broken: number;
  orphans: number;
  errors: number;
  warnings: number;
}

const broken = new Set(["broken-link", "broken-anchor"]);

/** Counts every finding except notes, each in exactly one of four kinds. */
export function countsOf({ counts }: Pick<DashboardSiteCheck, "counts">): HealthCounts {
  const sums: HealthCounts = { broken: 0, orphans: 0, errors: 0, warnings: 0 };
  for (const { check, severity, count } of counts) {
    if (broken.has(check)) sums.broken += count;
    else if (check === "orphan-page") sums.orphans += count;
    else if (severity === "error") sums.errors += count;
    else if (severity === "warning") sums.warnings += count;
  }
  return sums;
}
