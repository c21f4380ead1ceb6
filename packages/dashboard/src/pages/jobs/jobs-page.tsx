import type { DashboardJobPage, DashboardJobRow } from "@emend/contract";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { ProjectSelect, projectsQuery, useProjectChoices, useProjects } from "../../api/projects.tsx";
import { type JobSearch, jobsQuery, newestJobsQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { buttonLook, CommandLine } from "../../parts/button.tsx";
import { addProjectLine } from "../../parts/commands.ts";
import { Empty, Pending } from "../../parts/notice.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { Composer } from "./composer.tsx";
import { JobList } from "./job-list.tsx";

const route = getRouteApi("/");

export function JobsPage() {
  const filter = route.useSearch();
  const projects = useQuery(projectsQuery);
  const { rows, list } = useJobList(filter);
  const { found } = useProjects(rows.map(({ projectId }) => projectId));
  const mayWrite = useMayWrite();
  // A new project has no jobs yet; its name says no more than that.
  const isFiltered = filter.status !== undefined || filter.search !== undefined;

  if (!projects.data) return <Pending error={projects.error} />;
  const [first] = projects.data;
  if (!first) return <NoProject mayWrite={mayWrite} />;
  return (
    <>
      <title>Jobs · Emend</title>
      <h1 className="sr-only">Jobs</h1>
      {mayWrite ? <Composer first={first} projectId={filter.project} /> : <div className="pt-6" />}
      <Filters hasProjects={projects.data.length > 1} filter={filter} />
      {rows.length > 0 ? (
        <JobList
          rows={rows}
          projects={found}
          hasMore={list.hasNextPage}
          isLoading={list.isFetchingNextPage}
          onMore={() => list.fetchNextPage({ cancelRefetch: false })}
        />
      ) : list.data ? (
        <div className="rounded-md border border-line bg-sheet">
          <Empty>
            {isFiltered ? (
              <>
                <p>No jobs match.</p>
                <Link to="/" search={{}} className={buttonLook("ordinary")}>
                  Show all jobs
                </Link>
              </>
            ) : (
              <p>No jobs yet. Say above what should change in the docs.</p>
            )}
          </Empty>
        </div>
      ) : (
        <Pending error={list.error} />
      )}
    </>
  );
}

function NoProject({ mayWrite }: { mayWrite: boolean }) {
  return (
    <section className="grid max-w-[560px] gap-4 py-16">
      <title>Jobs · Emend</title>
      <h1>Add a project first</h1>
      <p>A project is a docs repository. Connect one, or let Emend host a folder.</p>
      {mayWrite && (
        <p>
          <Link to="/projects/new" className={buttonLook("primary")}>
            Add a project
          </Link>
        </p>
      )}
      <CommandLine text={addProjectLine} />
    </section>
  );
}

const statuses = ["active", "completed", "failed", "archived"] as const;
const typingPauseMs = 250;

function Filters({ hasProjects, filter }: { hasProjects: boolean; filter: JobSearch }) {
  const choices = useProjectChoices(filter.project ? [filter.project] : []);
  const navigate = useNavigate();
  const [text, setText] = useState(filter.search ?? "");
  const set = (change: JobSearch) => navigate({ to: "/", search: { ...filter, ...change }, replace: true });

  // A link or the back button may change the filter.
  const asked = useRef(text);
  useEffect(() => {
    if (asked.current === (filter.search ?? "")) return;
    asked.current = filter.search ?? "";
    setText(asked.current);
  }, [filter.search]);

  useEffect(() => {
    if (text === asked.current) return;
    const timer = setTimeout(() => {
      asked.current = text;
      void navigate({ to: "/", search: { ...filter, search: text || undefined }, replace: true });
    }, typingPauseMs);
    return () => clearTimeout(timer);
  }, [text, filter, navigate]);

  return (
    <search className="flex flex-wrap gap-2 pb-3">
      <input
        type="search"
        aria-label="Search jobs"
        placeholder="Search jobs"
        className="min-w-40 flex-1 basis-full sm:basis-0"
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <select
        aria-label="Status"
        className="flex-1 sm:flex-none"
        value={filter.status ?? ""}
        onChange={(event) => set({ status: event.target.value || undefined })}
      >
        <option value="">All statuses</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {status.charAt(0).toUpperCase() + status.slice(1)}
          </option>
        ))}
      </select>
      {hasProjects && (
        <ProjectSelect
          choices={choices}
          label="Show project"
          all="All projects"
          className="min-w-0 flex-1 sm:max-w-60 sm:flex-none"
          value={filter.project ?? ""}
          onChoose={(id) => set({ project: id || undefined })}
        />
      )}
    </search>
  );
}

const busyEveryMs = 1_500;
const quietEveryMs = 10_000;
const watchedMax = 50;

/** A list that stays current, however far it is scrolled: the newest page is polled, and beyond it only active jobs. */
function useJobList(filter: JobSearch) {
  const queries = useQueryClient();
  const list = useInfiniteQuery(jobsQuery(filter));
  const loaded = useMemo(() => list.data?.pages.flatMap((page) => page.jobs) ?? [], [list.data]);
  const isBusy = loaded.some(isActive);
  const head = useQuery({
    ...newestJobsQuery(filter),
    refetchInterval: isBusy ? busyEveryMs : quietEveryMs,
    enabled: list.data !== undefined,
  });
  const inHead = new Set(head.data?.jobs.map(({ id }) => id));
  const watchedIds = loaded
    .filter((job) => isActive(job) && !inHead.has(job.id))
    .slice(0, watchedMax)
    .map(({ id }) => id);
  const watched = useQuery({
    queryKey: ["jobs-watched", watchedIds],
    queryFn: ({ signal }) => request<DashboardJobPage>(`/jobs?ids=${watchedIds.join(",")}`, { signal }),
    refetchInterval: busyEveryMs,
    enabled: watchedIds.length > 0,
  });
  const merged = useMemo(
    () => mergeRows(loaded, { head: head.data ?? null, watched: watched.data?.jobs ?? [], status: filter.status }),
    [loaded, head.data, watched.data, filter.status],
  );

  useEffect(() => {
    // More jobs arrived than one page shows, so some are missing in between.
    if (merged.kind !== "gap") return;
    void queries.resetQueries({ queryKey: jobsQuery(filter).queryKey });
    void queries.invalidateQueries({ queryKey: newestJobsQuery(filter).queryKey });
  }, [merged.kind, queries, filter]);

  return { rows: merged.kind === "rows" ? merged.rows : loaded, list };
}

function isActive(job: DashboardJobRow): boolean {
  return job.status === "active";
}

type Merged = { kind: "rows"; rows: readonly DashboardJobRow[] } | { kind: "gap" };

/** The loaded rows with newer jobs and states. Rows that no longer match are removed. */
export function mergeRows(
  loaded: readonly DashboardJobRow[],
  fresh: { head: DashboardJobPage | null; watched: readonly DashboardJobRow[]; status: string | undefined },
): Merged {
  const { head, watched, status } = fresh;
  if (!head) return { kind: "rows", rows: loaded };
  const loadedIds = new Set(loaded.map(({ id }) => id));
  const news = head.jobs.filter(({ id }) => !loadedIds.has(id));
  if (loaded.length > 0 && head.nextCursor !== null && news.length === head.jobs.length) return { kind: "gap" };

  const byId = new Map([...watched, ...head.jobs].map((job) => [job.id, job]));
  // Within the newest page's range, missing rows were archived or have another status.
  const reach = head.nextCursor === null ? "" : (head.jobs.at(-1)?.id ?? "");
  const kept = loaded.flatMap((job) => {
    const now = byId.get(job.id);
    if (!now) return job.id > reach ? [] : [job];
    const isElsewhere = status === undefined ? now.status === "archived" : now.status !== status;
    return isElsewhere ? [] : [now];
  });
  // Newest first: ids sort by creation.
  return { kind: "rows", rows: [...news, ...kept].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)) };
}
