import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { projectsQuery } from "../../api/queries.ts";
import { buttonLook } from "../../parts/button.tsx";
import { addProjectLine, createJobLine } from "../../parts/commands.ts";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { Composer } from "./composer.tsx";
import { Filters } from "./filters.tsx";
import { JobList } from "./job-list.tsx";
import { useJobList } from "./use-job-list.ts";

const route = getRouteApi("/");

export function JobsPage() {
  const filter = route.useSearch();
  const projects = useQuery(projectsQuery);
  const { rows, list } = useJobList(filter);
  const mayWrite = useMayWrite();
  const isFiltered = Object.keys(filter).length > 0;

  if (!projects.data) return <Pending error={projects.error} />;
  const [first] = projects.data;
  if (!first) return <NoProject mayWrite={mayWrite} />;
  const nameOf = new Map(projects.data.map(({ id, name }) => [id, name]));
  return (
    <>
      <title>Jobs · Emend</title>
      <h1 className="sr-only">Jobs</h1>
      {mayWrite ? <Composer projects={projects.data} projectId={filter.project} /> : <div className="pt-6" />}
      <Filters projects={projects.data} filter={filter} />
      {rows.length > 0 ? (
        <JobList
          rows={rows}
          nameOf={nameOf}
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
              <>
                <p>No jobs yet. Start one above, or from the command line:</p>
                <CopyBlock text={createJobLine(first.id)} />
              </>
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
      <p>A project is a docs repository. Connect yours, or let Emend host one that you push to.</p>
      {mayWrite && (
        <p>
          <Link to="/projects/new" className={buttonLook("primary")}>
            Add a project
          </Link>
        </p>
      )}
      <p className="text-quiet">To import the current folder:</p>
      <CopyBlock text={addProjectLine} />
    </section>
  );
}
