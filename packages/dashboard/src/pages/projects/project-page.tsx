import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { projectsQuery } from "../../api/queries.ts";
import { buttonLook } from "../../parts/button.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Head, Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { EditProject } from "./edit-project.tsx";

const route = getRouteApi("/projects/$id");

export function ProjectPage() {
  const { id } = route.useParams();
  const projects = useQuery(projectsQuery);
  if (!projects.data) return <Pending error={projects.error} />;
  const project = projects.data.find((each) => each.id === id);
  if (!project) return <Empty>There is no such project.</Empty>;
  return (
    <>
      <title>{`${project.name} · Emend`}</title>
      <Head title={<VisibleText text={project.name} />}>
        <Link to="/" search={{ project: id }} className={buttonLook("ordinary")}>
          Jobs
        </Link>
        {project.pullsUrl && (
          <a href={project.pullsUrl} className={buttonLook("ordinary")}>
            Pull requests
          </a>
        )}
      </Head>
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_380px]">
        <EditProject key={id} project={project} />
        <aside className="grid grid-cols-[minmax(0,1fr)] gap-6">
          <Sheet className="grid gap-2 p-4">
            <h2>Project id</h2>
            <CopyBlock text={id} />
          </Sheet>
          <Sheet className="grid gap-2 p-4">
            <h2>Repository</h2>
            <CopyBlock text={project.repositoryUrl} />
            {project.forge === "local" && (
              <>
                <p className="text-quiet">To fill it from a checkout of your docs; the password is an API key:</p>
                <CopyBlock text={`git push ${project.repositoryUrl} HEAD:main`} />
              </>
            )}
          </Sheet>
        </aside>
      </div>
    </>
  );
}
