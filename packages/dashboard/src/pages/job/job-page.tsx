import type { DashboardJob } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { diffQuery, jobQuery, projectsQuery } from "../../api/queries.ts";
import { isAway } from "../../api/request.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { Clipped } from "../../parts/clipped.tsx";
import { Pending } from "../../parts/notice.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { Asked } from "./asked.tsx";
import { Events } from "./events.tsx";
import { Failure } from "./failure.tsx";
import { Findings } from "./findings.tsx";
import { FollowUp } from "./follow-up.tsx";
import { JobHead } from "./job-head.tsx";
import { Sources } from "./sources.tsx";
import { Told } from "./told.tsx";
import { useJobEvents } from "./use-job-events.ts";

const none: readonly never[] = [];
const route = getRouteApi("/jobs/$id");

export function JobPage() {
  const { id } = route.useParams();
  const job = useQuery(jobQuery(id));
  if (!job.data) return <Pending error={job.error} />;
  // A final job has no stream: that the server is away shows when the job is read again.
  return <Job key={id} job={job.data} isServerAway={isAway(job.error)} />;
}

function Job({ job, isServerAway }: { job: DashboardJob; isServerAway: boolean }) {
  const { run } = job;
  const isActive = run.status === "active";
  const stream = useJobEvents(run.id, isActive ? null : run.timings.updatedAt);
  const diff = useQuery({
    ...diffQuery(run.id, run.timings.updatedAt),
    enabled: !isActive || run.findings !== null,
    placeholderData: (before) => before,
  });
  const projects = useQuery(projectsQuery);
  const [isSplit, setIsSplit] = useState(false);
  const fileUrl = useCallback((path: string) => `/jobs/${run.id}/file?path=${encodeURIComponent(path)}`, [run.id]);
  const project = projects.data?.find(({ id }) => id === job.projectId);
  const hasChanges = (diff.data?.files.length ?? 0) > 0;
  // Side by side the diff takes the whole width.
  const isBeside = hasChanges && !isSplit;
  return (
    <>
      <JobHead
        job={job}
        project={project}
        diff={diff.data}
        problem={stream.isLost || isServerAway ? "Connection lost. Reconnecting…" : null}
      />
      <div
        className={`grid grid-cols-[minmax(0,1fr)] items-start gap-5 ${isBeside ? "lg:grid-cols-[336px_minmax(0,1fr)] lg:grid-rows-[auto_1fr]" : ""}`}
      >
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5 empty:hidden">
          <Failure job={job} />
          <Told run={run} />
          {run.summary && (
            <Sheet className="grid gap-1 px-4 py-3">
              <h2 className="text-quiet">Summary</h2>
              <Clipped className="grid gap-2 wrap-anywhere">
                <Prose text={run.summary} />
              </Clipped>
            </Sheet>
          )}
          <Findings run={run} />
          <Sources run={run} />
        </div>
        {diff.data && hasChanges && (
          // Once the job is final its change is what one came for; before, what happens.
          <div
            className={`${isActive ? "order-last" : ""} ${isBeside ? "lg:col-start-2 lg:row-span-2 lg:row-start-1" : ""}`}
          >
            <DiffView
              diff={diff.data}
              findings={run.findings?.introduced ?? none}
              isSplit={isSplit}
              onSplit={setIsSplit}
              fileUrl={fileUrl}
            />
          </div>
        )}
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <Asked job={job} />
          <FollowUp run={run} />
          <Events
            key={String(isActive)}
            jobId={run.id}
            events={stream.events}
            isOpen={isActive || (diff.data !== undefined && !hasChanges)}
          />
        </div>
      </div>
    </>
  );
}
