import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { followOwnJob } from "../../layout/own-jobs.tsx";

/** Starts a job and goes to its page. */
export function useStartJob(projectId: string) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (prompt: string) => request<{ id: string }>(`/projects/${projectId}/jobs`, { body: { prompt } }),
    async onSuccess({ id }) {
      followOwnJob(id);
      void queries.invalidateQueries({ queryKey: ["jobs-head"] });
      void queries.invalidateQueries({ queryKey: ["projects"] });
      await navigate({ to: "/jobs/$id", params: { id } });
    },
  });
}
