import type { DashboardJob, JobRun } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useState } from "react";
import { useProjects } from "../../api/projects.tsx";
import { diffQuery, jobQuery } from "../../api/queries.ts";
import { isAway } from "../../api/request.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { useEdits } from "../../diff/file-editor.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { durationOf, localTime } from "../../parts/format.ts";
import { Pending, Skeleton } from "../../parts/notice.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Clipped, Clock, VisibleText } from "../../parts/text.tsx";
import { pullPath } from "../pulls/queries.ts";
import { Approval } from "./approval.tsx";
import { Failure } from "./failure.tsx";
import { Findings } from "./findings.tsx";
import { FollowUp } from "./follow-up.tsx";
import { Events } from "./job-events.tsx";
import { changesId, JobHead } from "./job-head.tsx";
import { PagePictures } from "./page-pictures.tsx";
import { Rounds } from "./rounds.tsx";
import { useJobEvents } from "./use-job-events.ts";

const none: readonly never[] = [];
const route = getRouteApi("/jobs/$id");
const columns = "grid grid-cols-[minmax(0,1fr)] items-start gap-5";
const beside = "lg:grid-cols-[336px_minmax(0,1fr)] lg:grid-rows-[auto_1fr]";

export function JobPage() {
  const { id } = route.useParams();
  const job = useQuery(jobQuery(id));
  if (!job.data) return job.error ? <Pending error={job.error} /> : <JobSkeleton />;
  // A finished job has no stream: an unavailable server shows at the next read.
  return <Job key={id} job={job.data} isServerAway={isAway(job.error)} />;
}

function JobSkeleton() {
  return (
    <div role="status" className="told-late">
      <span className="sr-only">Loading …</span>
      <div className="grid gap-3 pt-8 pb-5">
        <Skeleton className="h-8 w-2/3" />
        <Skeleton className="h-6 w-1/2" />
        <Skeleton className="h-5 w-3/4" />
      </div>
      <div className={`${columns} ${beside}`}>
        <Skeleton className={slotHeight} />
        <Skeleton className="h-96" />
      </div>
    </div>
  );
}

function Job({ job, isServerAway }: { job: DashboardJob; isServerAway: boolean }) {
  const { run } = job;
  const isActive = run.status === "active";
  // Whoever sees a job end keeps everything where it was.
  const [isWatched, setIsWatched] = useState(isActive);
  if (isActive && !isWatched) setIsWatched(true);
  const stream = useJobEvents(run.id, isActive ? null : run.timings.updatedAt);
  const diff = useQuery({
    ...diffQuery(run.id, useSeldom(run.timings.updatedAt, isActive)),
    placeholderData: (before) => before,
  });
  const project = useProjects([job.projectId]).found.get(job.projectId);
  const [isSplit, setIsSplit] = useState(false);
  const isHosted = project?.forge === "local" && !isActive && run.pullRequest !== null;
  const pull = isHosted ? pullPath({ projectId: job.projectId, number: String(run.pullRequest?.number) }) : null;
  const edits = useEdits(run.pullRequest?.state === "open" ? pull : null);
  // The branch has what people edited since, too.
  const files = pull ?? `/jobs/${run.id}`;
  const fileUrl = useCallback((path: string) => `${files}/file?path=${encodeURIComponent(path)}`, [files]);
  const isAsking = run.waiting?.for === "answer";
  const hasChanges = (diff.data?.files.length ?? 0) > 0;
  // The side-by-side diff uses the whole width.
  const isBeside = !isSplit;
  // Its one prompt is the heading until there is a title: what comes late comes below.
  const isInOneRound = isWatched && job.messages.length === 0;
  const result = (
    <>
      <Whole job={job} />
      <Findings run={run} projectId={job.projectId} isHosted={isHosted} />
      <Sources run={run} />
    </>
  );
  return (
    <>
      <JobHead
        job={job}
        project={project}
        diff={diff.data}
        isWatched={isWatched}
        problem={stream.isLost || isServerAway ? "Connection lost. Reconnecting…" : null}
      />
      <div key={String(isWatched)} className={`${columns} ${isBeside ? beside : ""}`}>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          {run.waiting?.for === "approval" && <Approval run={run} />}
          {isAsking && <FollowUp run={run} projectId={job.projectId} />}
          <Slot job={job} isWatched={isWatched} />
          <Told run={run} />
          {!isWatched && result}
        </div>
        <div
          id={changesId}
          // Once the job is final its change is what one came for; before, what happens.
          className={`${isWatched ? "order-last" : ""} ${isBeside ? "lg:order-none lg:col-start-2 lg:row-span-2 lg:row-start-1" : ""}`}
        >
          {diff.data && hasChanges ? (
            <DiffView
              isLive={isWatched}
              diff={diff.data}
              findings={isActive ? none : (run.findings?.introduced ?? none)}
              isSplit={isSplit}
              onSplit={setIsSplit}
              fileUrl={fileUrl}
              review={edits}
              {...(job.isDiffSoFar && {
                title: job.messages.length > 0 ? "changed so far in this round" : "changed so far",
              })}
            />
          ) : (
            <NoChanges isActive={isActive} isLoading={diff.isPending} />
          )}
          {!isActive && <PagePictures jobId={run.id} pictures={job.pictures} />}
        </div>
        <div
          // Below a diff that is not there yet it would move; beside one it does not.
          className={`grid grid-cols-[minmax(0,1fr)] gap-5 ${isWatched || !diff.isPending ? "" : "max-lg:hidden"} ${isBeside ? "lg:sticky lg:top-4 lg:max-h-[calc(100dvh-32px)] lg:overflow-y-auto" : ""}`}
        >
          {!isInOneRound && <Rounds job={job} />}
          {/* Above the timeline, which grows: a person who wants to say something finds it without scrolling. */}
          {!isAsking && <FollowUp run={run} projectId={job.projectId} />}
          <Events
            jobId={run.id}
            events={stream.events}
            isOpen={isWatched || (diff.data !== undefined && !hasChanges)}
            isLive={isActive && !isByRules(run)}
            isWatched={isWatched}
          />
          {isInOneRound && <Rounds job={job} />}
          {isWatched && result}
        </div>
      </div>
    </>
  );
}

const seldomMs = 1_500;

/** The same value, followed at leisure while it changes often: each diff is fetched and laid out anew. */
function useSeldom(value: string, isOften: boolean): string {
  const [taken, setTaken] = useState(value);
  useEffect(() => {
    if (value === taken) return;
    const timer = setTimeout(() => setTaken(value), isOften ? seldomMs : 0);
    return () => clearTimeout(timer);
  }, [value, taken, isOften]);
  return taken;
}

function NoChanges({ isActive, isLoading }: { isActive: boolean; isLoading: boolean }) {
  if (isLoading) return <Skeleton className="h-96" />;
  return (
    <p className="rounded-md border border-dashed border-line px-4 py-10 text-center text-quiet">
      {isActive ? "Changes appear here as they are made." : "This job changed no files."}
    </p>
  );
}

/** What a job has used, then what came of it: one place of one height, so that nothing moves when it ends. */
const slotHeight = "min-h-52 sm:min-h-46";
/** The rules use no model, and say in a line or two what a follow-up did. */
const [lowSlotHeight, lowTextHeight] = ["min-h-34", "max-h-10"];

function isLow(job: DashboardJob): boolean {
  return isByRules(job.run) && job.messages.length > 0;
}

function Slot({ job, isWatched }: { job: DashboardJob; isWatched: boolean }) {
  const { run, messages } = job;
  if (run.status === "active") return <Progress job={job} />;
  const isRound = messages.length > 0;
  const last = job.outcomes.at(-1);
  const summary = isRound ? last?.words : run.summary;
  // A failure says it in its own box, with what to do next.
  const isSaid = run.failure !== null && (isWatched || isRound);
  const isUnchanged = !isRound && run.status === "completed" && !run.pullRequest && !run.preview && !run.plan;
  const unchanged = isRound && last?.kind === "unchanged" ? ": no changes" : "";
  return (
    <>
      <Failure job={job} />
      {(summary || unchanged) && !isSaid && (
        <Sheet
          className={`grid content-start gap-1 px-4 py-3 ${isWatched ? (isLow(job) ? lowSlotHeight : slotHeight) : ""}`}
        >
          <h2 className="text-quiet">
            {isRound
              ? `Result of follow-up ${messages.length}${unchanged}`
              : run.refused !== null
                ? "Nothing was published"
                : run.plan
                  ? "Plan"
                  : "Summary"}
          </h2>
          <Clipped
            className="grid gap-2 wrap-anywhere"
            // Of a job without changes, its reason is all there is.
            height={isWatched && !isUnchanged ? (isLow(job) ? lowTextHeight : "max-h-26") : "max-h-88"}
          >
            <Prose text={summary || "No reason was given."} />
          </Clipped>
          <Spent job={job} />
        </Sheet>
      )}
    </>
  );
}

/** After a follow-up: the newest summary of the whole change, where it says more than the round's own result. */
function Whole({ job }: { job: DashboardJob }) {
  const { run, messages } = job;
  const last = job.outcomes.at(-1);
  const isShown =
    run.status !== "active" && messages.length > 0 && (last?.kind === "changed" || last?.kind === "failed");
  if (!isShown || !run.summary || run.summary === last?.words) return null;
  return (
    <Sheet className="grid gap-1 px-4 py-3">
      <h2 className="text-quiet">Summary of all changes</h2>
      <Clipped className="grid gap-2 wrap-anywhere">
        <Prose text={run.summary} />
      </Clipped>
    </Sheet>
  );
}

/** What it took. */
function Spent({ job }: { job: DashboardJob }) {
  const { steps, usage, timings } = job.run;
  const { startedAt, endedAt } = timings;
  const tokens = usage.inputTokens + usage.outputTokens;
  // From its first run to its last end lie days in which nobody asked for anything.
  const isOneRound = job.messages.length === 0;
  const parts = [
    steps.count > 0 && `${steps.count} ${steps.count === 1 ? "step" : "steps"}`,
    tokens > 0 && `${tokens.toLocaleString("en")} tokens`,
    startedAt && endedAt && isOneRound && `took ${durationOf(Date.parse(endedAt) - Date.parse(startedAt))}`,
  ].filter((part) => typeof part === "string");
  return <p className="text-quiet">{parts.join(" · ")}</p>;
}

/** Without a language model. */
function isByRules({ model }: JobRun): boolean {
  return model === "emend/rules";
}

/** How much of its budget a running job has used. */
function Progress({ job }: { job: DashboardJob }) {
  const { budget, run } = job;
  const started = run.timings.startedAt;
  const whole = (count: number) => Math.round(count).toLocaleString("en");
  const steps = { word: "Steps", ...budget.steps, show: whole };
  const rows = isByRules(run)
    ? [steps]
    : [
        { word: "Cost", ...budget.costUsd, show: (usd: number) => `$${usd.toFixed(2)}` },
        steps,
        { word: "Tokens", ...budget.tokens, show: whole },
        { word: "Model time", ...budget.ms, show: durationOf },
      ];
  return (
    <section
      aria-label="Budget"
      className={`grid content-start gap-2 rounded-md border border-line bg-sheet px-4 py-3 ${isLow(job) ? lowSlotHeight : slotHeight}`}
    >
      <h2 className="flex justify-between gap-3 text-quiet">
        Budget used
        {started && job.messages.length === 0 && run.waiting === null && (
          <span className="font-normal">
            running for <Clock since={started} />
          </span>
        )}
      </h2>
      <dl className="grid gap-1.5">
        {rows.map(({ word, used, max, show }) => (
          <div key={word} className="grid grid-cols-[84px_minmax(0,1fr)] items-center gap-x-3">
            <dt className="text-quiet">{word}</dt>
            <dd className="text-right">
              {show(used)} <span className="text-quiet">of {show(max)}</span>
            </dd>
            <div aria-hidden="true" className="col-span-2 h-1 rounded-md bg-hush">
              <div
                className={`h-1 rounded-md ${used > max * 0.8 ? "bg-warn" : "bg-accent"}`}
                style={{ width: `${Math.min(100, (100 * used) / Math.max(max, 1e-9))}%` }}
              />
            </div>
          </div>
        ))}
      </dl>
      {isByRules(run) && (
        <p className="text-quiet">The built-in rules do this job. They call no model and cost nothing.</p>
      )}
    </section>
  );
}

const fewMax = 8;

/** The source lines that the change is based on. */
export function Sources({ run }: { run: JobRun }) {
  if (run.sources.length === 0) return null;
  return (
    <Sheet className="px-4 py-3">
      <details open={run.sources.length <= fewMax}>
        <summary className="text-quiet">
          {run.sources.length} {run.sources.length === 1 ? "source" : "sources"}
        </summary>
        <ul className="grid gap-1 pt-2">
          {run.sources.map(({ repository, path, line, lineEnd, commit, supports, text }) => (
            <li key={`${repository} ${path} ${line} ${commit} ${supports}`} className="grid gap-1 wrap-anywhere">
              {supports !== null && (
                <p>
                  “<VisibleText text={supports} />”
                </p>
              )}
              <p>
                <code>
                  <VisibleText text={repository === null ? path : `@${repository}/${path}`} />:{line}
                  {lineEnd > line && `-${lineEnd}`}
                </code>{" "}
                <span className="text-quiet">at {commit.slice(0, 10)}</span>
              </p>
              {text !== null && (
                <pre className="max-h-48 overflow-auto text-sm">
                  <VisibleText text={text} />
                </pre>
              )}
            </li>
          ))}
        </ul>
      </details>
    </Sheet>
  );
}

/** Notices although the job did not fail: what it waits for, and what did not work. */
export function Told({ run }: { run: JobRun }) {
  const { waiting, notices } = run;
  return (
    <>
      {waiting && waiting.for !== "answer" && waiting.for !== "approval" && (
        <Sheet className="grid gap-1 px-4 py-3">
          <p className="wrap-anywhere font-semibold" role="status">
            <VisibleText text={waiting.message} />
          </p>
          <p className="text-quiet">
            {waiting.nextTryAt ? `Next try at ${localTime(waiting.nextTryAt)}.` : "Trying now."}{" "}
            {waiting.for === "disk" && "The work so far is saved. An operator must free disk space."}
            {waiting.for === "model" && "The work so far is saved, and continues when the model answers."}
            {waiting.for === "forge" && "The work so far is saved. Emend tries again until the host answers."}
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
