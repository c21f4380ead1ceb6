import type { DashboardPullRow } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { projectsQuery } from "../../api/queries.ts";
import { CopyBlock } from "../../parts/button.tsx";
import { addProjectLine, createJobLine } from "../../parts/commands.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { RowLink } from "../../parts/row-link.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { PullState } from "./pull-state.tsx";
import { pullsQuery } from "./queries.ts";

const route = getRouteApi("/pulls");

/** Pull requests of local projects. */
export function PullsPage() {
  const { project } = route.useSearch();
  const navigate = useNavigate();
  const pulls = useQuery(pullsQuery(project));
  const projects = useQuery(projectsQuery);
  const locals = projects.data?.filter(({ forge }) => forge === "local") ?? [];
  const nameOf = new Map(projects.data?.map(({ id, name }) => [id, name]));
  const chosen = locals.find(({ id }) => id === project);
  const first = chosen ?? locals[0];
  return (
    <>
      <title>Pull requests · Emend</title>
      <Head title="Pull requests">
        {locals.length > 1 && (
          <select
            aria-label="Show project"
            className="min-w-0 flex-1 sm:max-w-60"
            value={project ?? ""}
            onChange={(event) =>
              navigate({
                to: "/pulls",
                search: event.target.value ? { project: event.target.value } : {},
                replace: true,
              })
            }
          >
            <option value="">All projects</option>
            {locals.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Head>
      {chosen && (
        <div className="pb-4">
          <CopyBlock text={`git clone ${chosen.repositoryUrl}`} />
        </div>
      )}
      <Sheet className="overflow-hidden">
        {pulls.data ? (
          <ul className="divide-y divide-line">
            {pulls.data.map((pull) => (
              <Row
                key={`${pull.projectId} ${pull.number}`}
                pull={pull}
                project={nameOf.get(pull.projectId) ?? pull.projectId}
              />
            ))}
          </ul>
        ) : (
          <Pending error={pulls.error} />
        )}
        {pulls.data?.length === 0 && (
          <Empty>
            <p>
              {first
                ? "No pull requests yet. A job that changes files opens one."
                : "Only projects hosted by Emend are listed here."}
            </p>
            <CopyBlock text={first ? createJobLine(first.id) : addProjectLine} />
          </Empty>
        )}
      </Sheet>
    </>
  );
}

function Row({ pull, project }: { pull: DashboardPullRow; project: string }) {
  return (
    <li>
      <RowLink
        path={`/pulls/${pull.projectId}/${pull.number}`}
        className="grid min-h-9 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 py-2 -outline-offset-2 hover:bg-hush md:grid-cols-[96px_minmax(0,1fr)_minmax(0,180px)_96px_84px] md:py-1"
      >
        <span className="order-2 flex justify-end md:order-none md:justify-start">
          <PullState pull={pull} />
        </span>
        <span className="order-1 flex min-w-0 gap-2 leading-6 md:order-none">
          <span className="truncate font-medium">
            <VisibleText text={pull.title} />
          </span>
          <span className="text-quiet">#{pull.number}</span>
        </span>
        <span className="order-3 truncate text-quiet md:order-none">
          <VisibleText text={project} />
        </span>
        <span className="hidden text-quiet md:inline">
          {pull.comments > 0 && `${pull.comments} ${pull.comments === 1 ? "comment" : "comments"}`}
        </span>
        <span className="order-4 text-right text-quiet md:order-none">
          <Age at={pull.createdAt} />
        </span>
      </RowLink>
    </li>
  );
}
