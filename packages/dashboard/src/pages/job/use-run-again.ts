import type { DashboardJob } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { followOwnJob } from "../../layout/own-jobs.tsx";

/** Starts a new job with the same prompt and options. */
export function useRunAgain({ projectId, run, options }: DashboardJob) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () =>
      request<{ id: string }>(`/projects/${projectId}/jobs`, { body: { prompt: run.prompt, ...options } }),
    async onSuccess({ id }) {
      followOwnJob(id);
      void queries.invalidateQueries({ queryKey: ["jobs-head"] });
      await navigate({ to: "/jobs/$id", params: { id } });
    },
  });
}
