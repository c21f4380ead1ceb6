import type { DashboardJob, FailureCode } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { jobQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Clipped, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { saveDraft } from "../jobs/draft.ts";
import { useRunAgain } from "./use-run-again.ts";

interface Advice {
  words: string;
  /** The one action that is offered. */
  action: "again" | "reword" | "settings";
}

const adviceFor: Record<FailureCode, Advice> = {
  model_unavailable: {
    words: "Check the project's model and its key. `emend doctor` says whether the model answers.",
    action: "again",
  },
  budget_exceeded: { words: "The job needs more than the project's limits allow.", action: "settings" },
  timeout: { words: "The job needs more time than the project allows.", action: "settings" },
  cancelled: { words: "Nothing was published.", action: "again" },
  policy_denied: { words: "The project's policy does not allow this change.", action: "settings" },
  branch_conflict: {
    words: "The job's branch has commits that Emend did not make. Start a new job: it gets its own branch.",
    action: "again",
  },
  forge_rejected: {
    words: "The forge refused the request; see its message above. Often a token lacks a permission.",
    action: "settings",
  },
  forge_unavailable: {
    words: "The forge did not answer. The work is saved. Retry publishes it without calling a model.",
    action: "again",
  },
  repository_unavailable: {
    words: "Emend can't read the repository. Check that it exists and that the project's token can read it.",
    action: "settings",
  },
  instruction_not_understood: {
    words: "The built-in rules run an instruction only if they understand all of it.",
    action: "reword",
  },
  internal: { words: "This is a bug in Emend. The server's log has details.", action: "again" },
};

export function offersAgain(run: DashboardJob["run"]): boolean {
  return run.failure !== null && adviceFor[run.failure.code]?.action === "again";
}

/** What went wrong, in the server's words, and the one action that is offered. */
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
  if (!failure) return null;
  // Newer servers may send unknown codes.
  const advice: Advice = adviceFor[failure.code] ?? { words: "", action: "again" };
  const isCancelled = failure.code === "cancelled";
  function reword() {
    saveDraft({ prompt });
    void navigate({ to: "/", search: { project: job.projectId } });
  }
  return (
    <section
      className={`grid gap-2 rounded-md border ${isCancelled ? "border-line" : "border-bad"} bg-sheet px-4 py-3`}
      aria-label={isCancelled ? "Cancelled" : "Failure"}
    >
      {isCancelled ? (
        <h2>
          Cancelled
          {job.cancelledBy && (
            <>
              {" by "}
              <Person subject={job.cancelledBy} />
            </>
          )}
        </h2>
      ) : (
        <p className="flex items-center gap-2 font-semibold text-bad">
          <Icon name="cross" />
          <code>{failure.code}</code>
        </p>
      )}
      {!isCancelled && (
        <Clipped className="whitespace-pre-wrap wrap-anywhere">
          <VisibleText text={failure.message} />
        </Clipped>
      )}
      {advice.words && !(isCancelled && pullRequest) && <p className="text-quiet">{advice.words}</p>}
      <Problem error={retry.error ?? again.error} />
      {mayWrite && status !== "archived" && (
        <p className="flex flex-wrap gap-2">
          {isRetryable && (
            <Button look="primary" disabled={retry.isPending} onClick={() => retry.mutate()}>
              {retry.isPending ? "Retrying …" : "Retry"}
            </Button>
          )}
          {advice.action === "again" && (
            <Button disabled={again.isPending} onClick={() => again.mutate()}>
              Run again
            </Button>
          )}
          {advice.action === "reword" && <Button onClick={reword}>Edit the prompt</Button>}
          {advice.action === "settings" && (
            <Link to="/projects/$id" params={{ id: job.projectId }} className={buttonLook("ordinary")}>
              Open project settings
            </Link>
          )}
        </p>
      )}
    </section>
  );
}
