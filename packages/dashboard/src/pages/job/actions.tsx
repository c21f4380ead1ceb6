import type { JobRun } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";

/** What can be done with a job as it stands. */
export function Actions({ run, projectId }: { run: JobRun; projectId: string }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const act = useMutation({
    mutationFn: (action: "cancel" | "archive") => request(`/jobs/${run.id}/${action}`, { body: {} }),
    onSettled: () => queries.invalidateQueries(),
  });
  const again = useMutation({
    mutationFn: () => request<{ id: string }>(`/projects/${projectId}/jobs`, { body: { prompt: run.prompt } }),
    async onSuccess({ id }) {
      await navigate({ to: "/jobs/$id", params: { id } });
    },
  });
  const isBusy = act.isPending || again.isPending;
  const { pullRequest } = run;
  return (
    <div className="grid justify-items-end gap-2">
      <div className="flex flex-wrap gap-2">
        {run.status === "active" ? (
          <Button look="danger" disabled={isBusy} onClick={() => act.mutate("cancel")}>
            Cancel
          </Button>
        ) : (
          <Button disabled={isBusy} onClick={() => again.mutate()}>
            Run again
          </Button>
        )}
        {(run.status === "completed" || run.status === "failed") && (
          <Button disabled={isBusy} onClick={() => act.mutate("archive")}>
            Archive
          </Button>
        )}
        {pullRequest && run.status !== "active" && (
          <a href={pullRequest.url} className={buttonLook("primary")}>
            <Icon name={pullRequest.state === "merged" ? "merged" : "open"} />
            Pull request #{pullRequest.number}
          </a>
        )}
      </div>
      <Problem error={act.error ?? again.error} />
    </div>
  );
}
