import type { DashboardJob, JobEvent, JobRun } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { diffQuery, jobQuery, projectsQuery } from "../../api/queries.ts";
import { isAway } from "../../api/request.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { Toggle } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { localTime } from "../../parts/format.ts";
import { Near } from "../../parts/near.tsx";
import { Pending } from "../../parts/notice.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Age, Clipped, VisibleText } from "../../parts/text.tsx";
import { Failure } from "./failure.tsx";
import { Findings } from "./findings.tsx";
import { FollowUp } from "./follow-up.tsx";
import { JobHead } from "./job-head.tsx";
import { Timeline } from "./timeline.tsx";
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
        <div
          className={`grid grid-cols-[minmax(0,1fr)] gap-5 ${isBeside ? "lg:sticky lg:top-4 lg:max-h-[calc(100dvh-32px)] lg:overflow-y-auto" : ""}`}
        >
          <Asked job={job} />
          <FollowUp run={run} />
          <Events
            key={String(isActive)}
            jobId={run.id}
            events={stream.events}
            isOpen={isActive || (diff.data !== undefined && !hasChanges)}
            isLive={isActive && run.model !== "emend/rules"}
          />
        </div>
      </div>
    </>
  );
}

const fewMax = 8;

/** The lines that the change is founded on. */
export function Sources({ run }: { run: JobRun }) {
  if (run.sources.length === 0) return null;
  return (
    <Sheet className="px-4 py-3">
      <details open={run.sources.length <= fewMax}>
        <summary className="text-quiet">
          {run.sources.length} {run.sources.length === 1 ? "source" : "sources"}
        </summary>
        <ul className="grid gap-1 pt-2">
          {run.sources.map(({ repository, path, line, commit }) => (
            <li key={`${repository} ${path} ${line} ${commit}`} className="wrap-anywhere">
              <code>
                <VisibleText text={repository === null ? path : `@${repository}/${path}`} />:{line}
              </code>{" "}
              <span className="text-quiet">at {commit.slice(0, 10)}</span>
            </li>
          ))}
        </ul>
      </details>
    </Sheet>
  );
}

/** What was asked, at first and since. */
export function Asked({ job }: { job: DashboardJob }) {
  return (
    <Sheet className="grid gap-3 px-4 py-3">
      <div className="grid gap-1">
        <h2 className="text-quiet">Instruction</h2>
        <Words text={job.run.prompt} />
      </div>
      {job.messages.map((message) => (
        <div key={message.number} className="grid gap-1 border-t border-line pt-3">
          <h2 className="flex justify-between gap-3 text-quiet">
            Follow-up
            <span className="font-normal">
              <Age at={message.at} />
            </span>
          </h2>
          <Words text={message.prompt} />
        </div>
      ))}
    </Sheet>
  );
}

function Words({ text }: { text: string }) {
  return (
    <Clipped className="text-[16px] leading-6 whitespace-pre-wrap wrap-anywhere">
      <VisibleText text={text} />
    </Clipped>
  );
}

/** What a reader should know although the job did not fail: what it waits for, and what did not work beside it. */
export function Told({ run }: { run: JobRun }) {
  const { waiting, notices } = run;
  return (
    <>
      {waiting && (
        <Sheet className="grid gap-1 px-4 py-3">
          <p className="wrap-anywhere font-semibold" role="status">
            <VisibleText text={waiting.message} />
          </p>
          <p className="text-quiet">
            {waiting.nextTryAt ? `Next try at ${localTime(waiting.nextTryAt)}.` : "Trying now."} The work is finished
            and saved. The model is not called again.
          </p>
        </Sheet>
      )}
      {notices.length > 0 && (
        <Sheet className="grid gap-1 px-4 py-3">
          <h2 className="text-quiet">Notices</h2>
          <ul className="grid gap-1">
            {notices.map((notice) => (
              <li key={notice} className="wrap-anywhere">
                <VisibleText text={notice} />
              </li>
            ))}
          </ul>
        </Sheet>
      )}
    </>
  );
}

const views = ["Summary", "Raw events"] as const;
type View = (typeof views)[number];

/** Everything that happened; `isOpen` until somebody folds or unfolds it. */
export function Events(props: { jobId: string; events: readonly JobEvent[]; isOpen: boolean; isLive: boolean }) {
  const [view, setView] = useState<View>("Summary");
  const [chosen, setChosen] = useState<boolean | null>(null);
  const isOpen = chosen ?? props.isOpen;
  return (
    <details
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open !== isOpen && setChosen(currentTarget.open)}
      className="rounded-md border border-line bg-sheet"
    >
      <summary className="px-4 py-2 font-semibold -outline-offset-2 hover:bg-hush">
        Timeline{" "}
        <span className="font-normal text-quiet">
          {props.events.length} {props.events.length === 1 ? "event" : "events"}
        </span>
      </summary>
      {isOpen && (
        <div className="border-t border-line py-2">
          <div className="flex justify-end px-3 pb-1">
            <Toggle<View> label="How to show events" options={views} chosen={view} onChoose={(next) => setView(next)} />
          </div>
          {view === "Summary" ? (
            <Timeline jobId={props.jobId} events={props.events} isLive={props.isLive} />
          ) : (
            <RawEvents events={props.events} />
          )}
        </div>
      )}
    </details>
  );
}

const eventsPerPiece = 50;

/** Events as they came, for whoever writes a program against them. */
export function RawEvents({ events }: { events: readonly JobEvent[] }) {
  const pieces = Array.from({ length: Math.ceil(events.length / eventsPerPiece) }, (_, index) =>
    events.slice(index * eventsPerPiece, (index + 1) * eventsPerPiece),
  );
  return pieces.map((piece) => (
    <Near key={piece[0]?.seq} estimatePx={piece.length * 48} startsNear={piece[0]?.seq === 1}>
      {() => (
        <pre className="px-4 text-[12px] leading-[18px] whitespace-pre-wrap wrap-anywhere">
          {piece.map((event) => (
            <code key={event.seq} className="block py-0.5 text-[12px] leading-[18px]">
              <VisibleText text={JSON.stringify(event)} />
            </code>
          ))}
        </pre>
      )}
    </Near>
  ));
}
