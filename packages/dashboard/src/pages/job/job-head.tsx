import type { DashboardJob, DashboardProject, JobDiff } from "@emend/contract";
import { Link } from "@tanstack/react-router";
import { Age } from "../../parts/age.tsx";
import { durationOf } from "../../parts/duration.ts";
import { jobTitle } from "../../parts/job-title.ts";
import { Status } from "../../parts/status.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { Actions } from "./actions.tsx";
import { offersAgain } from "./failure.tsx";
import { headlineOf } from "./headline.ts";

/** The job in one sentence, and what can be done with it. */
export function JobHead(props: {
  job: DashboardJob;
  project: DashboardProject | undefined;
  diff: JobDiff | undefined;
  problem: string | null;
}) {
  const { run, projectId } = props.job;
  const title = jobTitle(run);
  const { startedAt, endedAt } = run.timings;
  // From its first run to its last end lie days in which nobody asked for anything.
  const wasAskedMore = props.job.messages.length > 0;
  const { inputTokens, outputTokens } = run.usage;
  return (
    <header className="grid grid-cols-[minmax(0,1fr)] gap-3 pt-8 pb-5">
      <title>{`${title.slice(0, 100)} · Emend`}</title>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <h1 className="max-h-51 min-w-0 flex-1 basis-72 overflow-hidden">
          <VisibleText text={title.slice(0, 400)} />
        </h1>
        <Actions
          job={props.job}
          isLocal={props.project?.forge === "local"}
          isAgainElsewhere={offersAgain(run) && run.status !== "archived"}
        />
      </div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[16px] leading-6" aria-live="polite">
        <Status status={run.status} phase={run.phase} />
        <span>{headlineOf(run, props.diff)}</span>
      </p>
      {props.problem && (
        <p role="status" className="told-late text-warn">
          {props.problem}
        </p>
      )}
      <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1 text-quiet">
        <Link to="/" search={{ project: projectId }} className="max-w-full truncate underline underline-offset-3">
          <VisibleText text={props.project?.name ?? projectId} />
        </Link>
        <span className="wrap-anywhere">
          <VisibleText text={run.model} />
        </span>
        {run.steps.count > 0 && (
          <span>
            {run.steps.count} {run.steps.count === 1 ? "step" : "steps"}
          </span>
        )}
        {inputTokens + outputTokens > 0 && (
          <span title={`${inputTokens} read, ${outputTokens} written`}>
            {(inputTokens + outputTokens).toLocaleString("en")} tokens
          </span>
        )}
        <code className="wrap-anywhere">{run.id}</code>
        <Age at={run.timings.createdAt} />
        {startedAt && endedAt && !wasAskedMore && (
          <span>took {durationOf(Date.parse(endedAt) - Date.parse(startedAt))}</span>
        )}
      </p>
    </header>
  );
}
