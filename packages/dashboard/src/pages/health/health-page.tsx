import type { DashboardProject } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { healthQuery } from "../../api/project-queries.ts";
import { projectsQuery } from "../../api/queries.ts";
import { addProjectLine } from "../../parts/commands.ts";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { Head, Sheet } from "../../parts/sheet.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { CheckNow } from "./check-now.tsx";
import { Findings } from "./findings.tsx";
import { Fixes } from "./fixes.tsx";
import { Trend } from "./trend.tsx";

const route = getRouteApi("/health");

export function HealthPage() {
  const { project: chosenId } = route.useSearch();
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery);
  if (!projects.data) return <Pending error={projects.error} />;
  const project = projects.data.find(({ id }) => id === chosenId) ?? projects.data[0];
  return (
    <>
      <title>Site health · Emend</title>
      {project ? (
        <Health project={project}>
          {projects.data.length > 1 && (
            <select
              aria-label="Project"
              className="min-w-0 flex-1 sm:max-w-60"
              value={project.id}
              onChange={(event) => navigate({ to: "/health", search: { project: event.target.value } })}
            >
              {projects.data.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
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
                , or import the current folder from the command line:
              </p>
              <CopyBlock text={addProjectLine} />
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
        // Another project is another page, but for the field that chose it: the keyboard is still there.
        <div key={project.id} className="grid grid-cols-[minmax(0,1fr)] gap-6">
          {health.data.problem && <Problem error={`The last check failed: ${health.data.problem.words}`} />}
          {!latest && (
            <Sheet>
              <Empty>
                <p>
                  {!health.data.problem && "This site has not been checked yet. "}
                  To run the same checks in a checkout of the site:
                </p>
                <CopyBlock text="emend check ." />
              </Empty>
            </Sheet>
          )}
          {latest && (
            <>
              <Trend checks={health.data.checks} />
              {mayWrite && <Fixes projectId={project.id} fixes={health.data.fixes} />}
              <Findings findings={health.data.findings} latest={latest} />
            </>
          )}
        </div>
      )}
    </>
  );
}
