import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { projectsQuery } from "../../api/queries.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button } from "../../parts/button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Head, Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { AddProject } from "./add-project.tsx";

export function ProjectsPage() {
  const projects = useQuery(projectsQuery);
  const [isAdding, setIsAdding] = useState(false);
  if (!projects.data) return <Pending error={projects.error} />;
  return (
    <>
      <title>Projects · Emend</title>
      <Head title="Projects">
        <Button look="primary" onClick={() => setIsAdding(true)}>
          Add project
        </Button>
      </Head>
      <Sheet>
        {projects.data.length === 0 && <Empty>A project is a docs repository. Add the first one.</Empty>}
        <ul className="divide-y divide-line">
          {projects.data.map((project) => (
            <li key={project.id}>
              <Link
                to="/projects/$id"
                params={{ id: project.id }}
                {...rowAttribute}
                className="grid items-center gap-x-6 px-4 py-2.5 -outline-offset-2 hover:bg-hush md:grid-cols-[minmax(0,1fr)_auto_220px]"
              >
                <span className="min-w-0">
                  <span className="block truncate font-medium">
                    <VisibleText text={project.name} />
                  </span>
                  <span className="block truncate text-quiet">{project.repositoryUrl}</span>
                </span>
                <span className="text-quiet">
                  {project.forge} · {project.models[0]}
                </span>
                <Quota used={project.createsThisHour} max={project.settings.createsPerHourMax} />
              </Link>
            </li>
          ))}
        </ul>
      </Sheet>
      {isAdding && <AddProject onClose={() => setIsAdding(false)} />}
    </>
  );
}

/** How much of this hour's quota is used: a bar and the figures. */
function Quota({ used, max }: { used: number; max: number }) {
  return (
    <span className="flex items-center gap-2 text-quiet">
      <meter className="sr-only" min={0} max={max} value={used} />
      <span className="h-1.5 w-16 overflow-hidden rounded-full bg-hush" aria-hidden="true">
        <span
          className="block h-full bg-quiet"
          style={{ width: `${max > 0 ? Math.min(100, (used / max) * 100) : 100}%` }}
        />
      </span>
      <span className="whitespace-nowrap">
        {used} of {max} this hour
      </span>
    </span>
  );
}
