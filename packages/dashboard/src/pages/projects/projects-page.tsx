import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { projectListQuery } from "../../api/projects.tsx";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button, buttonLook, CommandLine } from "../../parts/button.tsx";
import { addProjectLine } from "../../parts/commands.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { forgeNames } from "./forges.ts";
import { Quota } from "./quota.tsx";

export function ProjectsPage() {
  const [text, setText] = useState("");
  const search = useDeferredValue(text.trim());
  const list = useInfiniteQuery(projectListQuery(search));
  const mayWrite = useMayWrite();
  if (!list.data) return <Pending error={list.error} />;
  const projects = list.data.pages.flatMap((page) => page.projects);
  return (
    <>
      <title>Projects · Emend</title>
      <Head title="Projects">
        {(text !== "" || list.hasNextPage) && (
          <input
            type="search"
            aria-label="Find a project"
            placeholder="Find a project"
            className="min-w-40"
            maxLength={200}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
        {mayWrite && (
          <Link to="/projects/new" className={buttonLook("primary")}>
            Add project
          </Link>
        )}
      </Head>
      <Sheet>
        {projects.length === 0 && search !== "" && <Empty>No projects match.</Empty>}
        {projects.length === 0 && search === "" && (
          <Empty>
            <p>A project is a docs repository. Add one first.</p>
            <CommandLine text={addProjectLine} />
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {projects.map((project) => (
            <li key={project.id}>
              <Link
                to="/projects/$id"
                params={{ id: project.id }}
                {...rowAttribute}
                className="grid items-center gap-x-6 gap-y-1 px-4 py-2.5 -outline-offset-2 hover:bg-hush md:grid-cols-[minmax(0,1fr)_minmax(0,280px)_auto]"
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
      {list.hasNextPage && (
        <p className="pt-4 text-center">
          <Button disabled={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
    </>
  );
}
