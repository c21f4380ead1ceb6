import type { DashboardJob } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { jobQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { PullRequestButton } from "./pull-request-button.tsx";
import { useRunAgain } from "./use-run-again.ts";

/** What can be done with a job as it stands. `isAgainElsewhere`: its failure offers to run it again by itself. */
export function Actions(props: { job: DashboardJob; isLocal: boolean; isAgainElsewhere: boolean }) {
  const { run, projectId } = props.job;
  const queries = useQueryClient();
  const act = useMutation({
    mutationFn: (action: "cancel" | "archive") => request(`/jobs/${run.id}/${action}`, { body: {} }),
    onSettled: () => queries.invalidateQueries({ queryKey: jobQuery(run.id).queryKey }),
  });
  const again = useRunAgain(props.job);
  const mayWrite = useMayWrite();
  const isBusy = act.isPending || again.isPending;
  return (
    <div className="grid gap-2 sm:justify-items-end">
      <div className="flex flex-wrap gap-2">
        {mayWrite && run.status === "active" && (
          <Button look="danger" disabled={isBusy} onClick={() => act.mutate("cancel")}>
            {act.isPending ? "Cancelling …" : "Cancel"}
          </Button>
        )}
        {mayWrite && run.status !== "active" && !props.isAgainElsewhere && (
          <Button disabled={isBusy} onClick={() => again.mutate()}>
            Run again
          </Button>
        )}
        {mayWrite && (run.status === "completed" || run.status === "failed") && (
          <Button disabled={isBusy} onClick={() => act.mutate("archive")}>
            Archive
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
      <Problem error={act.error ?? again.error} />
    </div>
  );
}
