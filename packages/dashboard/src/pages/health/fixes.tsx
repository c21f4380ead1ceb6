import type { DashboardSuggestion } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

/** What was found, as jobs: one click starts one. */
export function Fixes({ projectId, fixes }: { projectId: string; fixes: readonly DashboardSuggestion[] }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: (prompt: string) => request<{ id: string }>(`/projects/${projectId}/jobs`, { body: { prompt } }),
    async onSuccess({ id }) {
      void queries.invalidateQueries({ queryKey: ["jobs-head"] });
      void queries.invalidateQueries({ queryKey: ["projects"] });
      await navigate({ to: "/jobs/$id", params: { id } });
    },
  });
  if (fixes.length === 0) return null;
  const first = fixes.find(({ isVain }) => !isVain);
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Fixes">
      <h2>Fixes</h2>
      <Problem error={start.error} />
      <Sheet>
        <ul className="divide-y divide-line">
          {fixes.map((fix) => (
            <li key={fix.prompt} className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-4 py-3">
              <div className="min-w-0 flex-1 basis-60">
                <p className="line-clamp-2 font-serif text-[16px] leading-6 wrap-anywhere">
                  <VisibleText text={fix.prompt} />
                </p>
                <p className="text-quiet">
                  {fix.because}
                  {fix.isVain && ": somebody has to say where they should lead"}
                </p>
              </div>
              {!fix.isVain && (
                <Button
                  look={fix === first ? "primary" : "ordinary"}
                  disabled={start.isPending}
                  aria-label={`Start job: ${fix.prompt.split("\n", 1)[0]}`}
                  onClick={() => start.mutate(fix.prompt)}
                >
                  Start job
                </Button>
              )}
            </li>
          ))}
        </ul>
      </Sheet>
    </section>
  );
}
