import type { DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { allowedConstructsQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { Person } from "../../parts/person.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";

/** What people allowed on the site: such constructs are published without a question. */
export function AllowedConstructs({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const query = allowedConstructsQuery(project.id);
  const allowed = useQuery(query);
  const remove = useMutation({
    mutationFn: (key: string) => request(`/projects/${project.id}/allowed-constructs/remove`, { body: { key } }),
    onSettled: () => queries.invalidateQueries({ queryKey: query.queryKey }),
  });
  if (!allowed.data) return <Pending error={allowed.error} />;
  return (
    <Sheet>
      <div className="border-b border-line px-5 py-4">
        <h2 className="text-[18px] leading-7">Allowed on this site</h2>
        <p className="text-quiet">Published without a question, because somebody allowed it from then on.</p>
      </div>
      <Problem error={remove.error} />
      {allowed.data.length === 0 && (
        <Empty>
          <p>Nothing yet. Choose “Publish and allow here from now on” when a job waits for you.</p>
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {allowed.data.map(({ key, by, at }) => (
          <li key={key} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-5 py-2">
            <div className="min-w-0 flex-1 basis-60">
              <p className="wrap-anywhere font-medium">
                <code>
                  <VisibleText text={key} />
                </code>
              </p>
              <p className="text-quiet">
                by <Person subject={by} />, <Age at={at} />
              </p>
            </div>
            <Button
              look="danger"
              disabled={remove.isPending}
              aria-label={`Ask again about ${key}`}
              onClick={() => remove.mutate(key)}
            >
              Ask again
            </Button>
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
