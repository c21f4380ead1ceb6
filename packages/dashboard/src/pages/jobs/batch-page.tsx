import type { DashboardJobPage, DashboardJobRow } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useProjects } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { JobList } from "./job-list.tsx";

const route = getRouteApi("/batch");
const busyEveryMs = 1_500;

/** One instruction in several projects: all of its jobs, as they go on. */
export function BatchPage() {
  const { ids = "", missing = "" } = route.useSearch();
  const jobs = useQuery({
    queryKey: ["batch", ids],
    queryFn: ({ signal }) => request<DashboardJobPage>(`/jobs?${new URLSearchParams({ ids })}`, { signal }),
    enabled: ids !== "",
    refetchInterval: ({ state }) => (state.data?.jobs.some(isActive) === false ? false : busyEveryMs),
  });
  const rows = jobs.data?.jobs ?? [];
  const refused = missing.split(",").filter((id) => id !== "");
  const { found } = useProjects([...rows.map(({ projectId }) => projectId), ...refused]);
  return (
    <>
      <title>Jobs in several projects · Emend</title>
      <Head title="One instruction, several projects" />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {rows[0] && (
          <Sheet className="px-4 py-3 text-[16px] leading-6 wrap-anywhere">
            <VisibleText text={rows[0].prompt} />
          </Sheet>
        )}
        {refused.length > 0 && (
          <Problem
            error={`No job was started in ${refused.map((id) => found.get(id)?.name ?? id).join(", ")}. Start the job there to see why.`}
          />
        )}
        {jobs.data && (
          <p role="status" className="font-semibold">
            {standing(rows)}
          </p>
        )}
        {rows.length > 0 ? (
          <JobList rows={rows} projects={found} hasMore={false} isLoading={false} onMore={() => {}} />
        ) : jobs.data || ids === "" ? (
          <Sheet>
            <Empty>
              <p>No jobs here. Choose several projects when you start a job.</p>
            </Empty>
          </Sheet>
        ) : (
          <Pending error={jobs.error} />
        )}
      </div>
    </>
  );
}

function isActive({ status }: DashboardJobRow): boolean {
  return status === "active";
}

/** "2 of 3 done · 2 pull requests · 1 failed" */
function standing(rows: readonly DashboardJobRow[]): string {
  const done = rows.filter((row) => !isActive(row)).length;
  const pulls = rows.filter(({ pullRequest }) => pullRequest !== null).length;
  const failed = rows.filter(({ status }) => status === "failed").length;
  return [
    `${done} of ${rows.length} done`,
    pulls > 0 && `${pulls} ${pulls === 1 ? "pull request" : "pull requests"}`,
    failed > 0 && `${failed} failed`,
  ]
    .filter((part) => part !== false)
    .join(" · ");
}
