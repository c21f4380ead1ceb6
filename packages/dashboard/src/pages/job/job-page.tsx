import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { diffQuery, jobQuery, projectsQuery } from "../../api/queries.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { Age, durationOf } from "../../parts/age.tsx";
import { Pending } from "../../parts/notice.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { Status } from "../../parts/status.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { saveDraft } from "../jobs/draft.ts";
import { Actions } from "./actions.tsx";
import { Failure } from "./failure.tsx";
import { Findings } from "./findings.tsx";
import { headlineOf } from "./headline.ts";
import { Timeline } from "./timeline.tsx";
import { useJobEvents } from "./use-job-events.ts";

const route = getRouteApi("/jobs/$id");

export function JobPage() {
  const { id } = route.useParams();
  const job = useQuery(jobQuery(id));
  const events = useJobEvents(id);
  const run = job.data?.run;
  const diff = useQuery({
    ...diffQuery(id, run?.timings.updatedAt ?? ""),
    enabled: run !== undefined && (run.status !== "active" || run.findings !== null),
    placeholderData: (before) => before,
  });
  const projects = useQuery(projectsQuery);
  const navigate = useNavigate();
  const [isSplit, setIsSplit] = useState(false);

  if (!job.data || !run) return <Pending error={job.error} />;
  const project = projects.data?.find((each) => each.id === job.data.projectId);
  const isActive = run.status === "active";
  const title = run.title ?? (run.prompt.trim().split("\n", 1)[0] || "A job");
  const { startedAt, endedAt } = run.timings;
  const hasChanges = (diff.data?.files.length ?? 0) > 0;
  const reword = () => {
    saveDraft(run.prompt);
    void navigate({ to: "/", search: { project: job.data.projectId } });
  };
  // Side by side the diff takes the whole width.
  const isBeside = hasChanges && !isSplit;
  return (
    <>
      <title>{`${title.slice(0, 100)} · Emend`}</title>
      <header className="grid gap-3 pt-8 pb-5">
        <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
          <div className="min-w-0 flex-1 basis-72">
            <h1>
              <VisibleText text={title} />
            </h1>
          </div>
          <Actions run={run} projectId={job.data.projectId} />
        </div>
        <p className="flex flex-wrap items-center gap-x-4 gap-y-1" aria-live="polite">
          <Status status={run.status} phase={run.phase} />
          <span>{headlineOf(run, diff.data)}</span>
        </p>
        <p className="flex flex-wrap gap-x-4 gap-y-1 text-quiet">
          <Link
            to="/"
            search={{ project: job.data.projectId }}
            className="max-w-full truncate underline underline-offset-3"
          >
            <VisibleText text={project?.name ?? job.data.projectId} />
          </Link>
          <span>{run.model}</span>
          <code className="wrap-anywhere">{run.id}</code>
          <Age at={run.timings.createdAt} />
          {startedAt && endedAt && <span>took {durationOf(Date.parse(endedAt) - Date.parse(startedAt))}</span>}
        </p>
      </header>
      <div
        className={`grid grid-cols-[minmax(0,1fr)] items-start gap-5 ${isBeside ? "lg:grid-cols-[320px_minmax(0,1fr)]" : ""}`}
      >
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          {run.failure && <Failure failure={run.failure} onReword={reword} />}
          <Sheet className="grid gap-1 px-4 py-3">
            <h2 className="text-quiet">Instruction</h2>
            <p className="max-h-60 overflow-y-auto font-serif text-[16px] leading-6 whitespace-pre-wrap wrap-anywhere">
              <VisibleText text={run.prompt} />
            </p>
          </Sheet>
          {run.summary && (
            <Sheet className="grid gap-1 px-4 py-3">
              <h2 className="text-quiet">What was done</h2>
              <div className="grid max-h-96 gap-2 overflow-y-auto wrap-anywhere">
                <Prose text={run.summary} />
              </div>
            </Sheet>
          )}
          <Findings run={run} />
          <details
            key={String(isActive)}
            open={isActive || !hasChanges}
            className="rounded-md border border-line bg-sheet"
          >
            <summary className="px-4 py-2 font-semibold -outline-offset-2 hover:bg-hush">
              Timeline <span className="font-normal text-quiet">{events.length} events</span>
            </summary>
            <div className="border-t border-line py-2">
              <Timeline events={events} />
            </div>
          </details>
        </div>
        {diff.data && hasChanges && (
          <DiffView diff={diff.data} findings={run.findings?.introduced ?? []} isSplit={isSplit} onSplit={setIsSplit} />
        )}
      </div>
    </>
  );
}
