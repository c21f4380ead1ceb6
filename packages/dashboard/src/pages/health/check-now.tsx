import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { healthQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";

const lookEveryMs = 500;
const patienceMs = 60_000;

/** Asks a worker to look, and waits until what it found, or why it could not, is there. */
export function CheckNow({ projectId }: { projectId: string }) {
  const queries = useQueryClient();
  const left = useRef(new AbortController());
  useEffect(() => {
    left.current = new AbortController();
    return () => left.current.abort();
  }, []);
  const check = useMutation({
    async mutationFn() {
      const { signal } = left.current;
      const seen = markOf(await queries.fetchQuery({ ...healthQuery(projectId), staleTime: 0 }));
      await request(`/projects/${projectId}/health/check`, { body: {} });
      const endsAt = Date.now() + patienceMs;
      // Whoever went to another page no longer waits: it shows what was found when it is opened again.
      while (Date.now() < endsAt && !signal.aborted) {
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
        if (markOf(await queries.fetchQuery({ ...healthQuery(projectId), staleTime: 0 })) !== seen) return;
      }
      if (!signal.aborted) throw new Error("Waiting for a worker. Results appear here when the check is done.");
    },
  });
  return (
    <span className="flex flex-wrap items-center gap-3">
      {check.error && (
        <span role="alert" className="text-bad">
          {check.error.message}
        </span>
      )}
      <Button disabled={check.isPending} onClick={() => check.mutate()}>
        {check.isPending ? "Checking …" : "Check now"}
      </Button>
    </span>
  );
}

/** Changes with every look, whatever it finds. */
function markOf(health: { checks: readonly { checkedAt: string }[]; problem: { at: string } | null }): string {
  return `${health.checks.at(-1)?.checkedAt} ${health.problem?.at}`;
}
