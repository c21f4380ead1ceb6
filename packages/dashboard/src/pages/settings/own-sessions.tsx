import type { DashboardOwnSessions } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ownSessionsQuery } from "../../api/account-queries.ts";
import { request } from "../../api/request.ts";
import { Age } from "../../parts/age.tsx";
import { Button } from "../../parts/button.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";

/** Where one is logged in, and a way out of everywhere but here. */
export function OwnSessions() {
  const queries = useQueryClient();
  const { data, error } = useQuery(ownSessionsQuery);
  const end = useMutation({
    mutationFn: () => request<{ ended: number }>("/sessions/end-others", { body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ownSessionsQuery.queryKey }),
  });
  if (!data) return <Pending error={error} />;
  const hasOthers = data.sessions.some(({ isThis }) => !isThis);
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2>Sessions</h2>
      <Sheet>
        <ul className="divide-y divide-line">
          {data.sessions.map((session) => (
            <SessionRow key={session.startedAt} session={session} />
          ))}
        </ul>
      </Sheet>
      <Problem error={end.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-quiet" aria-live="polite">
          {hasOthers ? "" : end.isSuccess ? "Other sessions ended." : "You have no other sessions."}
        </span>
        {hasOthers && (
          <Button look="danger" disabled={end.isPending} onClick={() => end.mutate()}>
            End other sessions
          </Button>
        )}
      </div>
    </section>
  );
}

function SessionRow({ session }: { session: DashboardOwnSessions["sessions"][number] }) {
  return (
    <li className="px-4 py-2">
      <p className="font-medium">{session.isThis ? "This browser" : "Another browser"}</p>
      <p className="wrap-anywhere text-quiet">
        logged in{session.by && ` by ${session.by}`} <Age at={session.startedAt} />
        {session.address && ` from ${session.address}`}
      </p>
    </li>
  );
}
