import type { DashboardJob } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useProjects } from "../../api/projects.tsx";
import { jobQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { ChooseModel } from "../../parts/choose-model.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Clipped, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { saveDraft } from "../jobs/draft.ts";
import { ApprovalButtons, Constructs } from "./approval.tsx";
import { failureAdvice } from "./failure-actions.ts";
import { followUpId } from "./follow-up.tsx";
import { useRunAgain } from "./use-run-again.ts";

/** Newer servers may send unknown codes. */
const unknown = { title: "The job failed", words: "", action: "again" } as const;

/** A person has the last word about these, and can still say yes to the first. */
const unapproved = {
  title: "This change was not approved in time",
  words: "The change is kept. Read it, then publish it.",
  action: "approve",
} as const;
const declined = { title: "Not published", words: "", action: "message" } as const;

function adviceOf(run: DashboardJob["run"]) {
  if (run.isApprovable) return unapproved;
  if (run.declinedBy !== null) return declined;
  return (run.failure && failureAdvice[run.failure.code]) ?? unknown;
}

export function offersAgain(run: DashboardJob["run"]): boolean {
  // An instruction that was not understood is not understood again.
  return run.failure !== null && ["again", "reword"].includes(adviceOf(run).action);
}

const places = {
  model: { words: "Check the model", search: {}, hash: "model" },
  budget: { words: "Raise the limits", search: {}, hash: "budget" },
  policy: { words: "Open the policy", search: { tab: "policy" }, hash: "" },
  connection: { words: "Check the connection", search: { tab: "connection" }, hash: "" },
  content: { words: "Open the project", search: {}, hash: "" },
} as const;

/** What Emend hosts needs no token: it lacks its first pages, or the branch. */
const hostedRepository = {
  title: "Emend can't read the repository",
  words: "It has no pages yet, or not this branch. Add your docs or choose the branch in the project, then retry.",
  action: "content",
} as const;

/** What went wrong, in a writer's words and the server's, and the one action that can succeed. */
export function Failure({ job }: { job: DashboardJob }) {
  const again = useRunAgain(job);
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const { failure, prompt, status, id, isRetryable, pullRequest } = job.run;
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => request(`/jobs/${id}/retry`, { body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: jobQuery(id).queryKey }),
  });
  const isHosted = useProjects([job.projectId]).found.get(job.projectId)?.forge === "local";
  if (!failure) return null;
  const isUnread = isHosted && failure.code === "repository_unavailable";
  const { title, words, action } = isUnread ? hostedRepository : adviceOf(job.run);
  const isCancelled = failure.code === "cancelled";
  // What the job had reached before is still there.
  const isFollowUp = status === "completed";
  function reword() {
    if (isFollowUp) return document.getElementById(followUpId)?.focus();
    saveDraft({ prompt });
    void navigate({ to: "/", search: { project: job.projectId } });
  }
  // Without its work, a new job does what a retry would.
  const shown = action === "retry" && !isRetryable ? "again" : action;
  return (
    <section
      className={`grid gap-2 rounded-md border ${isCancelled ? "border-line" : "border-bad"} bg-sheet px-4 py-3`}
      aria-label={isCancelled ? "Cancelled" : "Failure"}
    >
      {isCancelled ? (
        <h2>
          {isFollowUp ? "Follow-up cancelled" : "Cancelled"}
          {job.cancelledBy && (
            <>
              {" by "}
              <Person subject={job.cancelledBy} />
            </>
          )}
        </h2>
      ) : (
        <h2 className="flex items-start gap-2 text-bad" title={failure.code}>
          <Icon name="cross" className="mt-0.5" />
          {isFollowUp ? `Follow-up failed: ${title.charAt(0).toLowerCase()}${title.slice(1)}` : title}
        </h2>
      )}
      {!isCancelled && (
        <Clipped className="whitespace-pre-wrap wrap-anywhere">
          <VisibleText text={failure.message} />
        </Clipped>
      )}
      {words && !(isCancelled && pullRequest) && <p className="text-quiet">{words}</p>}
      {shown === "approve" && <Constructs constructs={job.run.unanswered ?? []} />}
      {isFollowUp && <p className="text-quiet">What the job did before is unchanged.</p>}
      <Problem error={retry.error ?? again.error} />
      {mayWrite && status !== "archived" && (
        <p className="flex flex-wrap items-center gap-2">
          {shown === "again" && (
            <Button look="primary" disabled={again.isPending} onClick={() => again.mutate()}>
              Run again
            </Button>
          )}
          {shown === "reword" && (
            <Button look="primary" onClick={reword}>
              {isFollowUp ? "Write another message" : "Edit the prompt"}
            </Button>
          )}
          {shown === "message" && (
            <Button look="primary" onClick={() => document.getElementById(followUpId)?.focus()}>
              Ask for another change
            </Button>
          )}
          {shown === "approve" && <ApprovalButtons jobId={id} />}
          {shown in places && <Place projectId={job.projectId} to={places[shown as keyof typeof places]} />}
          {isRetryable && (
            <Button
              look={shown === "retry" ? "primary" : "ordinary"}
              disabled={retry.isPending}
              onClick={() => retry.mutate()}
            >
              {retry.isPending ? "Retrying …" : "Retry"}
            </Button>
          )}
          {action === "reword" && <ChooseModel projectId={job.projectId} />}
        </p>
      )}
    </section>
  );
}

function Place({ projectId, to }: { projectId: string; to: (typeof places)[keyof typeof places] }) {
  return (
    <Link
      to="/projects/$id"
      params={{ id: projectId }}
      search={to.search}
      {...(to.hash !== "" && { hash: to.hash })}
      className={buttonLook("primary")}
    >
      {to.words}
    </Link>
  );
}
