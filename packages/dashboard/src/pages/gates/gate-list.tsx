import type { DashboardGates } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { request } from "../../api/request.ts";
import { Sheet } from "../../parts/dialog.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { GateMark } from "./gate-page.tsx";

/** The statuses that a project set on pull requests, and what keeps it from setting more. */
export function GateList({ projectId }: { projectId: string }) {
  const gates = useQuery({
    queryKey: ["gates", projectId],
    queryFn: ({ signal }) => request<DashboardGates>(`/projects/${projectId}/gates`, { signal }),
  });
  return (
    <section aria-label="Statuses on pull requests" className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2>Statuses on pull requests</h2>
      {gates.data ? <Statuses {...gates.data} /> : <Pending error={gates.error} />}
    </section>
  );
}

function Statuses({ statuses, looks }: DashboardGates) {
  return (
    <>
      {looks.map(({ repository, problem }) => (
        <Problem key={repository} error={problem && `${repository || "Docs repository"}: ${problem}`} />
      ))}
      {statuses.length === 0 && <p className="text-quiet">No open pull request was checked yet.</p>}
      {statuses.length > 0 && (
        <Sheet className="overflow-hidden">
          <ul className="divide-y divide-line">
            {statuses.map(({ id, state, title, number, repository, updatedAt }) => (
              <li key={id} className="grid gap-x-4 px-4 py-2 md:grid-cols-[96px_minmax(0,1fr)_auto]">
                <GateMark state={state} />
                <span className="min-w-0 truncate">
                  <Link to="/gates/$id" params={{ id }} className="underline underline-offset-3">
                    <VisibleText text={title} /> #{number}
                  </Link>{" "}
                  <span className="text-quiet">
                    {repository === "" ? "Docs repository" : <VisibleText text={repository} />}
                  </span>
                </span>
                <span className="text-quiet">
                  <Age at={updatedAt} />
                </span>
              </li>
            ))}
          </ul>
        </Sheet>
      )}
    </>
  );
}
