import type { DashboardJobRow } from "@emend/contract";
import { memo } from "react";
import { Age } from "../../parts/age.tsx";
import { Icon } from "../../parts/icon.tsx";
import { jobTitle } from "../../parts/job-title.ts";
import { LineCounts } from "../../parts/line-counts.tsx";
import { RowLink } from "../../parts/row-link.tsx";
import { Status } from "../../parts/status.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

/** One line on a screen, two where that would leave no room for the title. */
export const JobRow = memo(function JobRow({ job, project }: { job: DashboardJobRow; project: string }) {
  return (
    <li>
      <RowLink
        path={`/jobs/${job.id}`}
        className="grid h-15 grid-cols-[minmax(0,1fr)_auto] content-center items-center gap-x-4 px-4 -outline-offset-2 hover:bg-hush lg:h-9 lg:grid-cols-[112px_minmax(0,1fr)_minmax(0,150px)_100px_84px_84px]"
      >
        <span className="order-2 flex justify-end lg:order-none lg:justify-start">
          <Status status={job.status} phase={job.phase} />
        </span>
        <span className="order-1 truncate leading-6 font-medium lg:order-none">
          <VisibleText text={jobTitle(job)} />
        </span>
        <span className="order-3 truncate text-quiet lg:order-none">
          <VisibleText text={project} />
        </span>
        <span className="hidden text-right lg:inline">{job.figures && <LineCounts {...job.figures} />}</span>
        <span className="hidden text-quiet lg:flex">
          {job.pullRequest && <PullRequest pullRequest={job.pullRequest} />}
        </span>
        <span className="order-4 text-right text-quiet lg:order-none">
          <Age at={job.createdAt} />
        </span>
      </RowLink>
    </li>
  );
});

function PullRequest({ pullRequest }: { pullRequest: NonNullable<DashboardJobRow["pullRequest"]> }) {
  const { number, state, draft } = pullRequest;
  const word = state === "open" && draft ? "draft" : state;
  const colour = state === "merged" ? "text-merged" : state === "open" && !draft ? "text-good" : "";
  return (
    <span className={`inline-flex items-center gap-1 ${colour}`} title={`pull request #${number}, ${word}`}>
      <Icon name={state === "merged" ? "merged" : state === "closed" ? "cross" : "open"} />#{number}
      <span className="sr-only">, {word}</span>
    </span>
  );
}
