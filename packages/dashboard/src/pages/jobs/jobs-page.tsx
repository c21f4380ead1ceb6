import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { jobsQuery, projectsQuery } from "../../api/queries.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { Composer } from "./composer.tsx";
import { Filters } from "./filters.tsx";
import { JobRow } from "./job-row.tsx";

const route = getRouteApi("/");

export function JobsPage() {
  const filter = route.useSearch();
  const projects = useQuery(projectsQuery);
  const jobs = useInfiniteQuery(jobsQuery(filter));
  const rows = jobs.data?.pages.flatMap((page) => page.jobs) ?? [];
  const isFiltered = Object.keys(filter).length > 0;

  if (!projects.data) return <Pending error={projects.error} />;
  if (projects.data.length === 0) return <NoProject />;
  const nameOf = new Map(projects.data.map(({ id, name }) => [id, name]));
  return (
    <>
      <title>Jobs · Emend</title>
      <h1 className="sr-only">Jobs</h1>
      <Composer projects={projects.data} projectId={filter.project} />
      <Filters projects={projects.data} filter={filter} />
      <Sheet className="overflow-hidden">
        {rows.length > 0 ? (
          <ul className="divide-y divide-line">
            {rows.map((job) => (
              <JobRow key={job.id} job={job} project={nameOf.get(job.projectId) ?? job.projectId} />
            ))}
          </ul>
        ) : jobs.data ? (
          <Empty>{isFiltered ? <p>No job is like that.</p> : <p>No job yet. Write the first one above.</p>}</Empty>
        ) : (
          <Pending error={jobs.error} />
        )}
      </Sheet>
      {jobs.hasNextPage && (
        <p className="pt-4 text-center">
          <Button onClick={() => jobs.fetchNextPage()} disabled={jobs.isFetchingNextPage}>
            Older jobs
          </Button>
        </p>
      )}
    </>
  );
}

function NoProject() {
  return (
    <section className="grid max-w-[560px] gap-4 py-16">
      <h1>First, a project</h1>
      <p>A project is a docs repository. Emend can keep the repository for you, and you push your docs to it.</p>
      <p>
        <Link to="/projects" search={{}} className={buttonLook("primary")}>
          Add a project
        </Link>
      </p>
      <p className="text-quiet">To import a folder of this machine, type:</p>
      <pre className="overflow-x-auto rounded-md bg-hush px-3 py-2">
        <code>emend project add "My docs" --forge local --repo PATH</code>
      </pre>
    </section>
  );
}
