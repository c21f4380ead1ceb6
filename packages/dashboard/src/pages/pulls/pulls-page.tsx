import type { DashboardProject, DashboardPullRow } from "@emend/contract";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { ProjectSelect, projectsQuery, useProjectChoices, useProjects } from "../../api/projects.tsx";
import { newestJobsQuery } from "../../api/queries.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button, buttonLook, CopyBlock } from "../../parts/button.tsx";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { RowLink } from "../../parts/row-link.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { forgeNames } from "../projects/forges.ts";
import { PullState } from "./pull-state.tsx";
import { everyMs, type PullSearch, pullsQuery } from "./queries.ts";

const route = getRouteApi("/pulls");
const none: readonly never[] = [];

/** Pull requests of all projects, whichever forge hosts them. */
export function PullsPage() {
  const filter = route.useSearch();
  const list = useInfiniteQuery(pullsQuery(filter));
  const projects = useQuery(projectsQuery).data ?? none;
  const pulls = list.data?.pages.flatMap((page) => page.pulls);
  const asked = filter.project === undefined ? [] : [filter.project];
  const { found } = useProjects([...asked, ...(pulls ?? []).map(({ projectId }) => projectId)]);
  const chosen = found.get(filter.project ?? "");
  return (
    <>
      <title>Pull requests · Emend</title>
      <Head title="Pull requests">
        <Filters filter={filter} projects={projects} />
      </Head>
      <Sheet className="overflow-hidden">
        {pulls ? (
          <ul className="divide-y divide-line">
            {pulls.map((pull) => (
              <Row key={`${pull.projectId} ${pull.number}`} pull={pull} project={found.get(pull.projectId)} />
            ))}
          </ul>
        ) : (
          <Pending error={list.error} />
        )}
        {pulls?.length === 0 && <NoPulls filter={filter} project={chosen ?? projects[0]} />}
      </Sheet>
      {pulls && chosen?.forge === "local" && (
        <div className="grid gap-2 pt-4">
          <p className="text-quiet">To clone the repository:</p>
          <CopyBlock text={`git clone ${chosen.repositoryUrl}`} />
        </div>
      )}
      {list.hasNextPage && (
        <p className="pt-4 text-center">
          <Button onClick={() => list.fetchNextPage()} disabled={list.isFetchingNextPage}>
            {list.isFetchingNextPage ? "Loading older pull requests …" : "Older pull requests"}
          </Button>
        </p>
      )}
    </>
  );
}

const forgesKnown = Object.keys(forgeNames) as DashboardProject["forge"][];
const choiceLook = "min-w-0 flex-1 basis-0 sm:max-w-60 sm:flex-none sm:basis-auto";
const stateNames = { open: "Open", merged: "Merged", closed: "Closed" };

function Filters({ filter, projects }: { filter: PullSearch; projects: readonly DashboardProject[] }) {
  const navigate = useNavigate();
  const set = (change: PullSearch) => navigate({ to: "/pulls", search: { ...filter, ...change }, replace: true });
  const choices = useProjectChoices(filter.project === undefined ? [] : [filter.project]);
  // There may be others among the projects that are not on the first page.
  const forges = choices.search ? forgesKnown : [...new Set(projects.map(({ forge }) => forge))];
  return (
    // In a row of its own on a phone: those that come later move nothing.
    <search className="flex w-[calc(100dvw-32px)] flex-wrap gap-2 sm:w-auto sm:justify-end max-sm:[&_input]:order-last max-sm:[&_input]:basis-full">
      <Choice
        label="State"
        all="All states"
        chosen={filter.state}
        options={Object.entries(stateNames)}
        onChoose={(state) => set({ state })}
      />
      {forges.length > 1 && (
        <Choice
          label="Forge"
          all="All forges"
          chosen={filter.forge}
          options={forges.map((forge) => [forge, forgeNames[forge]])}
          onChoose={(forge) => set({ forge })}
        />
      )}
      {projects.length > 1 && (
        <ProjectSelect
          choices={choices}
          label="Show project"
          all="All projects"
          className={choiceLook}
          value={filter.project ?? ""}
          onChoose={(project) => set({ project: project || undefined })}
        />
      )}
    </search>
  );
}

function Choice(props: {
  label: string;
  all: string;
  chosen: string | undefined;
  options: readonly (readonly [value: string, words: string])[];
  onChoose(value: string | undefined): void;
}) {
  return (
    <select
      aria-label={props.label}
      className={choiceLook}
      value={props.chosen ?? ""}
      onChange={(event) => props.onChoose(event.target.value || undefined)}
    >
      <option value="">{props.all}</option>
      {props.options.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

function NoPulls({ filter, project }: { filter: PullSearch; project: DashboardProject | undefined }) {
  const of = filter.project === undefined ? {} : { project: filter.project };
  const jobs = useQuery({ ...newestJobsQuery({ ...of, status: "active" }), refetchInterval: everyMs });
  if (filter.state !== undefined || filter.forge !== undefined) {
    return (
      <Empty>
        <p>No pull requests match.</p>
        <Link to="/pulls" search={{}} className={buttonLook("ordinary")}>
          Show all pull requests
        </Link>
      </Empty>
    );
  }
  if (!jobs.data) return <Pending error={jobs.error} rows={3} />;
  const [running] = jobs.data.jobs;
  if (running) {
    return (
      <Empty>
        <p>No pull requests yet. A job is running, and opens one if it changes files.</p>
        <Link to="/jobs/$id" params={{ id: running.id }} className={buttonLook("ordinary")}>
          Go to the job
        </Link>
      </Empty>
    );
  }
  return (
    <Empty>
      <p>No pull requests yet. A job that changes files opens one.</p>
      {project ? (
        <Link to="/" search={{ project: project.id }} className={buttonLook("ordinary")}>
          Write a job
        </Link>
      ) : (
        <Link to="/projects/new" className={buttonLook("ordinary")}>
          Add a project
        </Link>
      )}
    </Empty>
  );
}

const rowLook =
  "grid min-h-9 grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 px-4 py-2 -outline-offset-2 hover:bg-hush md:grid-cols-[96px_minmax(0,1fr)_minmax(0,180px)_112px_84px] md:py-1";

function Row({ pull, project }: { pull: DashboardPullRow; project: DashboardProject | undefined }) {
  const forge = project && project.forge !== "local" ? forgeNames[project.forge] : "";
  return (
    <li>
      <PullLink pull={pull}>
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
          <VisibleText text={project?.name ?? pull.projectId} />
          {forge && <span className="md:hidden"> · {forge}</span>}
        </span>
        <span className="hidden truncate text-quiet md:inline">
          {forge || (pull.comments > 0 && `${pull.comments} ${pull.comments === 1 ? "comment" : "comments"}`)}
        </span>
        <span className="order-4 text-right text-quiet md:order-none">
          <Age at={pull.createdAt} />
        </span>
      </PullLink>
    </li>
  );
}

/** To this dashboard's page, or to the forge's. */
function PullLink({ pull, children }: { pull: DashboardPullRow; children: ReactNode }) {
  if (pull.url === null) {
    return (
      <RowLink path={`/pulls/${pull.projectId}/${pull.number}`} className={rowLook}>
        {children}
      </RowLink>
    );
  }
  return (
    <a href={pull.url} rel="noreferrer" {...rowAttribute} className={rowLook}>
      {children}
    </a>
  );
}
