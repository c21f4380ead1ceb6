import type { DashboardJob, DashboardJobRow, DashboardProject, JobDiff, JobRun } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { jobQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { jobTitle } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Status } from "../../parts/status.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { offersAgain } from "./failure.tsx";
import { useRunAgain } from "./use-run-again.ts";

/** The job in one sentence, and its actions. */
export function JobHead(props: {
  job: DashboardJob;
  project: DashboardProject | undefined;
  diff: JobDiff | undefined;
  problem: string | null;
  /** It came while somebody looked: what takes the place of other words takes no other place. */
  isWatched: boolean;
}) {
  const { run, projectId } = props.job;
  const title = jobTitle(run);
  return (
    <header className="grid grid-cols-[minmax(0,1fr)] gap-3 pt-8 pb-5">
      <title>{`${attentionOf(run) === "waiting" ? "Waiting for you: " : ""}${title.slice(0, 100)} · Emend`}</title>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <h1 className={`line-clamp-3 min-w-0 flex-1 basis-72 ${props.isWatched ? "min-h-14 sm:min-h-16" : ""}`}>
          <VisibleText text={title.slice(0, 400)} />
        </h1>
        <Actions
          job={props.job}
          isLocal={props.project?.forge === "local"}
          isWatched={props.isWatched}
          isAgainElsewhere={offersAgain(run) && run.status !== "archived"}
        />
      </div>
      <p
        // Room for what comes when the diff is loaded, or when the job ends.
        className={`flex flex-wrap content-start items-center gap-x-3 gap-y-1 text-[16px] leading-6 ${props.isWatched || run.findings ? "min-h-19 sm:min-h-6" : ""}`}
        aria-live="polite"
      >
        <Status
          status={run.status}
          phase={run.phase}
          failureCode={run.failure?.code ?? null}
          attention={attentionOf(run)}
        />
        <Headline words={headlineOf(props.job, props.diff)} files={filesOf(props.diff)} />
        {props.problem && <span className="told-late text-warn">{props.problem}</span>}
      </p>
      <p className="flex flex-wrap items-baseline gap-x-4 gap-y-1 text-quiet">
        <span className="wrap-anywhere">
          <VisibleText text={run.model} />
        </span>
        <code className="wrap-anywhere">{run.id}</code>
        {/* The names come later: on a phone each has a line of its own. */}
        <span className="basis-full truncate sm:basis-auto">
          by <Person subject={run.createdBy} />, <Age at={run.timings.createdAt} />
        </span>
        <span className="min-w-0 flex-1 basis-full truncate sm:basis-40">
          <Link to="/" search={{ project: projectId }} className="underline underline-offset-3">
            <VisibleText text={props.project?.name ?? projectId} />
          </Link>
        </span>
      </p>
    </header>
  );
}

export const changesId = "changes";

/** The files lead to the diff, which comes last on a phone while somebody watches. */
function Headline({ words, files }: { words: string; files: string }) {
  const [before = "", after] = files === "" ? [words] : words.split(files);
  return (
    <span>
      {before}
      {after !== undefined && (
        <>
          <a href={`#${changesId}`} className="underline underline-offset-3">
            {files}
          </a>
          {after}
        </>
      )}
    </span>
  );
}

/** The job in one sentence: "Opened #42 · 18 files · no new findings · $0.12". */
export function headlineOf(
  { run, messages, outcomes }: Pick<DashboardJob, "run" | "messages" | "outcomes">,
  diff: JobDiff | undefined,
): string {
  const isVain = run.status !== "active" && messages.length > 0 && outcomes.at(-1)?.kind === "unchanged";
  const vain = isVain && run.pullRequest ? `No changes in follow-up ${messages.length}` : "";
  const parts = [vain, outcomeOf(run), filesOf(diff), findingsOf(run), costOf(run)];
  return parts.filter((part) => part !== "").join(" · ");
}

/** The server's rule for the list. */
function attentionOf({ waiting, plan, refused, status, failure }: JobRun): DashboardJobRow["attention"] {
  if (waiting?.for === "answer" || waiting?.for === "approval") return "waiting";
  if (plan && status === "completed" && failure === null) return "waiting";
  return refused === null ? null : "refused";
}

const waitingWords = {
  disk: "Waiting for disk space",
  forge: "Waiting for the repository's host",
  model: "Waiting for the model",
  answer: "The agent has a question",
  approval: "Nothing was published yet",
} as const;

function outcomeOf(run: JobRun): string {
  const { pullRequest, status } = run;
  if (run.waiting) return waitingWords[run.waiting.for];
  if (status === "active")
    // The phase's word comes before it.
    return {
      queued: "Waiting",
      preparing: "Fetching the repository",
      working: "Reading and writing the docs",
      checking: "Comparing the site with what it was",
      publishing: "Opening the pull request",
    }[run.phase];
  if (pullRequest) {
    const verbs = { open: pullRequest.draft ? "Opened draft" : "Opened", merged: "Merged", closed: "Closed" };
    return `${verbs[pullRequest.state]} #${pullRequest.number}`;
  }
  if (status === "failed") return "Not published";
  if (run.refused !== null) return "Nothing published";
  if (run.plan) return "Plan ready";
  return run.preview ? "Preview only" : "No changes";
}

function filesOf(diff: JobDiff | undefined): string {
  const count = diff?.files.length ?? 0;
  if (count === 0) return "";
  return `${count} ${count === 1 ? "file" : "files"}`;
}

function findingsOf({ findings }: JobRun): string {
  if (!findings) return "";
  const fixed = findings.fixedCount > 0 ? `${findings.fixedCount} fixed` : "";
  const olderCount = Math.max(0, findings.after - findings.introducedCount);
  const older = olderCount > 0 ? `${olderCount} older` : "";
  const { introducedCount: count } = findings;
  const introduced = count === 1 ? "1 new finding" : `${count === 0 ? "no" : count} new findings`;
  const { unjudged = 0, total = 0 } = findings.links ?? {};
  const unread = unjudged > 0 ? `${unjudged} of ${total} links not checked` : "";
  return [introduced, fixed, older, unread].filter((part) => part !== "").join(", ");
}

function costOf({ usage }: JobRun): string {
  return usage.costUsd > 0 ? `$${usage.costUsd.toFixed(2)}` : "";
}

/** The job's actions. `isAgainElsewhere`: its failure already offers to run it again. */
function Actions(props: { job: DashboardJob; isLocal: boolean; isWatched: boolean; isAgainElsewhere: boolean }) {
  const { run, projectId } = props.job;
  const queries = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const readAgain = () => queries.invalidateQueries({ queryKey: jobQuery(run.id).queryKey });
  const archive = useMutation({
    mutationFn: () => request(`/jobs/${run.id}/archive`, { body: {} }),
    onSettled: readAgain,
  });
  const publish = useMutation({
    mutationFn: () => request(`/jobs/${run.id}/publish`, { body: {} }),
    onSettled: readAgain,
  });
  const again = useRunAgain(props.job);
  const mayWrite = useMayWrite();
  const isBusy = archive.isPending || again.isPending || publish.isPending;
  return (
    <div className={`grid content-start gap-2 sm:min-w-110 ${props.isWatched ? "min-h-20 sm:min-h-9" : ""}`}>
      <div className="flex flex-wrap gap-2 sm:justify-end">
        {mayWrite && run.status === "active" && (
          <Button look="danger" onClick={() => setIsAsking(true)}>
            Cancel
          </Button>
        )}
        {isAsking && (
          <Confirm
            title="Cancel this job?"
            submit="Cancel job"
            cancel="Keep running"
            onConfirm={() => request(`/jobs/${run.id}/cancel`, { body: {} }).finally(readAgain)}
            onClose={() => setIsAsking(false)}
          >
            <p>The job stops and nothing is published. You can run it again later.</p>
          </Confirm>
        )}
        {mayWrite && run.status !== "active" && !props.isAgainElsewhere && (
          <Button disabled={isBusy} onClick={() => again.mutate()}>
            Run again
          </Button>
        )}
        {mayWrite && (run.status === "completed" || run.status === "failed") && (
          <Button disabled={isBusy} onClick={() => archive.mutate()}>
            Archive
          </Button>
        )}
        {mayWrite && run.preview && run.status === "completed" && run.findings !== null && (
          <Button look="primary" disabled={isBusy} onClick={() => publish.mutate()}>
            {publish.isPending ? "Publishing …" : "Publish"}
          </Button>
        )}
        {run.pullRequest && (
          <PullRequestButton
            pullRequest={run.pullRequest}
            projectId={projectId}
            isLocal={props.isLocal}
            isPrimary={run.status !== "active"}
          />
        )}
      </div>
      <Problem error={archive.error ?? again.error} />
    </div>
  );
}

/** Links to the pull request. The local forge's pull requests are pages of this dashboard. */
function PullRequestButton(props: {
  pullRequest: NonNullable<JobRun["pullRequest"]>;
  projectId: string;
  isLocal: boolean;
  isPrimary: boolean;
}) {
  const { number, state, draft, url } = props.pullRequest;
  const isWaiting = state === "open" && props.isPrimary;
  const className = `order-first sm:order-none ${buttonLook(isWaiting ? "primary" : "ordinary")}`;
  const words = (
    <>
      <Icon name={state === "merged" ? "merged" : state === "closed" ? "cross" : "open"} />
      Pull request #{number}
      <span className="font-normal">· {state === "open" && draft ? "draft" : state}</span>
    </>
  );
  if (!props.isLocal) {
    return (
      <a href={url} rel="noreferrer" className={className}>
        {words}
      </a>
    );
  }
  return (
    <Link
      to="/pulls/$projectId/$number"
      params={{ projectId: props.projectId, number: String(number) }}
      className={className}
    >
      {words}
    </Link>
  );
}
