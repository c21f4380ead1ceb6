import type { DashboardSuggestion } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { VisibleText } from "../../parts/visible-text.tsx";

const examples: readonly DashboardSuggestion[] = [
  { prompt: "Fix broken links.", because: "" },
  { prompt: 'Replace "API token" with "access key".', because: "" },
  { prompt: "Move guides/auth to security/authentication.", because: "" },
];

/** What the checks found on the site, as jobs that would mend it; before they have looked, what can be asked at all. */
export function Suggestions({ projectId, onChoose }: { projectId: string; onChoose(prompt: string): void }) {
  const found = useQuery({
    queryKey: ["suggestions", projectId],
    queryFn: ({ signal }) =>
      request<{ suggestions: readonly DashboardSuggestion[] }>(`/projects/${projectId}/suggestions`, { signal }),
    staleTime: 60_000,
  });
  const all = found.data?.suggestions ?? [];
  const useful = all.filter(({ isVain }) => !isVain);
  // Nor is an example offered that is known to change nothing.
  const shown = useful.length > 0 ? useful : examples.filter(({ prompt }) => !all.some((one) => one.prompt === prompt));
  return (
    <ul aria-label="Suggestions" className="flex flex-wrap gap-2">
      {shown.map(({ prompt, because }) => (
        <li key={prompt} className="max-w-full">
          <button
            type="button"
            className="max-w-full truncate rounded-md border border-dashed border-line px-2 py-1 text-left text-quiet hover:border-quiet hover:text-ink"
            onClick={() => onChoose(prompt)}
          >
            <VisibleText text={prompt} />
            {because && <span className="text-warn"> · {because}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}
