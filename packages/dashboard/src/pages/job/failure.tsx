import type { DashboardJob, FailureCode } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { jobQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Clipped } from "../../parts/clipped.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { VisibleText } from "../../parts/visible-text.tsx";
import { saveDraft } from "../jobs/draft.ts";
import { useRunAgain } from "./use-run-again.ts";

interface Advice {
  words: string;
  /** The one thing to do about it. */
  action: "again" | "reword" | "settings";
}

const adviceFor: Record<FailureCode, Advice> = {
  model_unavailable: {
    words: "Look at the project's model and its key: `emend doctor` says whether it answers.",
    action: "again",
  },
  budget_exceeded: { words: "The job needs more than the project's limits allow.", action: "settings" },
  timeout: { words: "The job needs more time than the project allows.", action: "settings" },
  cancelled: { words: "Somebody stopped it. What it had done was not published.", action: "again" },
  policy_denied: { words: "The project's policy does not allow what the change touches.", action: "settings" },
  branch_conflict: {
    words: "Somebody else's commit is on the job's branch. A new job gets a branch of its own.",
    action: "again",
  },
  forge_rejected: {
    words: "The forge refused; its words are above. Often a token lacks a permission.",
    action: "settings",
  },
  forge_unavailable: {
    words: "The forge did not answer. The work is kept: Retry publishes it without asking a model.",
    action: "again",
  },
  repository_unavailable: {
    words: "The repository could not be read: is it still there, and may the project's token read it?",
    action: "settings",
  },
  instruction_not_understood: {
    words: "The rules do only what they understand to the last word.",
    action: "reword",
  },
  internal: { words: "This is a fault of Emend: the server's log says more.", action: "again" },
};

export function offersAgain(run: DashboardJob["run"]): boolean {
  return run.failure !== null && adviceFor[run.failure.code]?.action === "again";
}

/** What went wrong, in the server's words, and the one thing to do about it. */
export function Failure({ job }: { job: DashboardJob }) {
  const again = useRunAgain(job);
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const { failure, prompt, status, id, isRetryable } = job.run;
  const queries = useQueryClient();
  const retry = useMutation({
    mutationFn: () => request(`/jobs/${id}/retry`, { body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: jobQuery(id).queryKey }),
  });
  if (!failure) return null;
  // Newer servers may know codes that this page does not.
  const advice: Advice = adviceFor[failure.code] ?? { words: "", action: "again" };
  function reword() {
    saveDraft({ prompt });
    void navigate({ to: "/", search: { project: job.projectId } });
  }
  return (
    <section className="grid gap-2 rounded-md border border-bad bg-sheet px-4 py-3" aria-label="Failure">
      <p className="flex items-center gap-2 font-semibold text-bad">
        <Icon name="cross" />
        <code>{failure.code}</code>
      </p>
      <Clipped className="whitespace-pre-wrap wrap-anywhere">
        <VisibleText text={failure.message} />
      </Clipped>
      {advice.words && <p className="text-quiet">{advice.words}</p>}
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
          {advice.action === "reword" && <Button onClick={reword}>Change the instruction</Button>}
          {advice.action === "settings" && (
            <Link to="/projects/$id" params={{ id: job.projectId }} className={buttonLook("ordinary")}>
              Open the project's settings
            </Link>
          )}
        </p>
      )}
    </section>
  );
}
