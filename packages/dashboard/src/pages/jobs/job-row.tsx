import type { DashboardJobRow } from "@emend/contract";
import { Link } from "@tanstack/react-router";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Age } from "../../parts/age.tsx";
import { Figures, Status } from "../../parts/status.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

/** One line on a screen, two on a phone. Rows off screen cost no layout. */
export function JobRow({ job, project }: { job: DashboardJobRow; project: string }) {
  return (
    <li className="[contain-intrinsic-size:auto_44px] [content-visibility:auto]">
      <Link
        to="/jobs/$id"
        params={{ id: job.id }}
        {...rowAttribute}
        className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 py-2 -outline-offset-2 hover:bg-hush md:grid-cols-[112px_minmax(0,1fr)_minmax(0,150px)_100px_72px_84px] md:py-1.5"
      >
        <span className="order-2 flex md:order-none">
          <Status status={job.status} phase={job.phase} />
        </span>
        <span className="order-1 truncate leading-6 font-medium md:order-none">
          <VisibleText text={job.title ?? firstLine(job.prompt)} />
        </span>
        <span className="order-3 truncate text-quiet md:order-none">
          <VisibleText text={project} />
        </span>
        <span className="hidden text-right md:inline">{job.figures && <Figures {...job.figures} />}</span>
        <span className="hidden text-quiet md:inline">{job.pullRequest ? `#${job.pullRequest.number}` : ""}</span>
        <span className="order-4 text-right text-quiet md:order-none">
          <Age at={job.createdAt} />
        </span>
      </Link>
    </li>
  );
}

function firstLine(prompt: string): string {
  return prompt.trim().split("\n", 1)[0] || "(white space)";
}
