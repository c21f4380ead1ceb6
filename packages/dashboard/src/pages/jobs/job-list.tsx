import type { DashboardJobRow } from "@emend/contract";
import { memo, useEffect, useRef } from "react";
import { LineCounts } from "../../parts/bars.tsx";
import { Button } from "../../parts/button.tsx";
import { jobTitle } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Near } from "../../parts/near.tsx";
import { RowLink } from "../../parts/row-link.tsx";
import { Status } from "../../parts/status.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";

const rowsPerPiece = 20;
const nearPx = 1_600;

/** Only visible rows are rendered. Older ones are fetched near the end. */
export function JobList(props: {
  rows: readonly DashboardJobRow[];
  projects: ReadonlyMap<string, { name: string }>;
  hasMore: boolean;
  isLoading: boolean;
  onMore(): void;
}) {
  const { rows } = props;
  const rowPx = matchMedia("(min-width: 1024px)").matches ? 37 : 61;
  const pieces = Array.from({ length: Math.ceil(rows.length / rowsPerPiece) }, (_, index) =>
    rows.slice(index * rowsPerPiece, (index + 1) * rowsPerPiece),
  );
  return (
    <>
      <div className="overflow-hidden rounded-md border border-line bg-sheet">
        {pieces.map((piece, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a piece is a place in the list
          <Near key={index} estimatePx={piece.length * rowPx} startsNear={index === 0}>
            {() => (
              <ul className={`divide-y divide-line ${index > 0 ? "border-t border-line" : ""}`}>
                {piece.map((job) => (
                  <JobRow key={job.id} job={job} project={props.projects.get(job.projectId)?.name ?? job.projectId} />
                ))}
              </ul>
            )}
          </Near>
        ))}
      </div>
      {props.hasMore && <More rowCount={rows.length} isLoading={props.isLoading} onMore={props.onMore} />}
    </>
  );
}

function More({ rowCount, isLoading, onMore }: { rowCount: number; isLoading: boolean; onMore(): void }) {
  const ref = useRef<HTMLParagraphElement>(null);
  const more = useRef(onMore);
  more.current = onMore;
  // biome-ignore lint/correctness/useExhaustiveDependencies: with each page that arrived the end may still be near
  useEffect(() => {
    if (!ref.current || isLoading) return;
    // The last entry is the current state: a fast scroll reports several at once.
    const observer = new IntersectionObserver((entries) => entries.at(-1)?.isIntersecting && more.current(), {
      rootMargin: `${nearPx}px 0px`,
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, [rowCount, isLoading]);
  return (
    <p ref={ref} className="pt-4 text-center">
      <Button onClick={onMore} disabled={isLoading}>
        {isLoading ? "Loading older jobs …" : "Older jobs"}
      </Button>
    </p>
  );
}

/** One line on a wide screen, otherwise two. */
const JobRow = memo(function JobRow({ job, project }: { job: DashboardJobRow; project: string }) {
  return (
    <li>
      <RowLink
        path={`/jobs/${job.id}`}
        className="grid h-15 grid-cols-[minmax(0,1fr)_auto_auto] content-center items-center gap-x-4 px-4 -outline-offset-2 hover:bg-hush lg:h-9 lg:grid-cols-[132px_minmax(0,1fr)_minmax(0,150px)_100px_84px_84px]"
      >
        <span className="order-2 flex justify-end lg:order-none lg:justify-start">
          <Status status={job.status} phase={job.phase} failureCode={job.failureCode} attention={job.attention} />
        </span>
        <span className="order-1 col-span-2 truncate leading-6 font-medium lg:order-none lg:col-span-1">
          <VisibleText text={jobTitle(job)} />
        </span>
        <span className="order-3 truncate text-quiet lg:order-none">
          <VisibleText text={project} />
        </span>
        <span className="hidden text-right lg:inline">{job.figures && <LineCounts {...job.figures} />}</span>
        <span className="order-4 flex text-quiet lg:order-none">
          {job.pullRequest && <PullRequest pullRequest={job.pullRequest} />}
        </span>
        <span className="order-5 text-right text-quiet lg:order-none">
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
      <span className="lg:sr-only">
        <span className="sr-only">, </span>
        {word}
      </span>
    </span>
  );
}
