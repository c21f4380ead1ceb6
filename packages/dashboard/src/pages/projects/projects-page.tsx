import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { projectsQuery } from "../../api/queries.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { buttonLook, CopyBlock } from "../../parts/button.tsx";
import { addProjectLine } from "../../parts/commands.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { forgeNames } from "./forges.ts";
import { Quota } from "./quota.tsx";

export function ProjectsPage() {
  const projects = useQuery(projectsQuery);
  const mayWrite = useMayWrite();
  if (!projects.data) return <Pending error={projects.error} />;
  return (
    <>
      <title>Projects · Emend</title>
      <Head title="Projects">
        {mayWrite && (
          <Link to="/projects/new" className={buttonLook("primary")}>
            Add project
          </Link>
        )}
      </Head>
      <Sheet>
        {projects.data.length === 0 && (
          <Empty>
            <p>A project is a docs repository. Add one, or import the current folder from the command line:</p>
            <CopyBlock text={addProjectLine} />
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {projects.data.map((project) => (
            <li key={project.id}>
              <Link
                to="/projects/$id"
                params={{ id: project.id }}
                {...rowAttribute}
                className="grid items-center gap-x-6 gap-y-1 px-4 py-2.5 -outline-offset-2 hover:bg-hush md:grid-cols-[minmax(0,1fr)_minmax(0,200px)_auto]"
              >
                <span className="min-w-0">
                  <span className="block truncate font-medium">
                    <VisibleText text={project.name} />
                  </span>
                  <span className="block truncate font-mono text-[13px] text-quiet">{project.repositoryUrl}</span>
                </span>
                <span className="truncate text-quiet">
                  {forgeNames[project.forge]} · {project.models[0]}
                </span>
                <Quota project={project} />
              </Link>
            </li>
          ))}
        </ul>
      </Sheet>
    </>
  );
}
