import type { DashboardProject } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { projectsQuery } from "../../api/queries.ts";
import { buttonLook } from "../../parts/button.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Head, Sheet } from "../../parts/sheet.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { VisibleText } from "../../parts/visible-text.tsx";
import { Automations } from "../automations/automations.tsx";
import { Connection } from "./connection.tsx";
import { ContextRepositories } from "./context-repositories.tsx";
import { ModelKeys } from "./model-keys.tsx";
import { Quota } from "./quota.tsx";
import { RemoveProject } from "./remove-project.tsx";
import { generalGroups, guidanceGroups, policyGroups } from "./setting-groups.ts";
import { SettingsForm } from "./settings-form.tsx";
import { Webhooks } from "./webhooks.tsx";

const route = getRouteApi("/projects/$id");
const tabs = [
  { value: "general", words: "General" },
  { value: "policy", words: "Policy" },
  { value: "guidance", words: "Guidance" },
  { value: "automations", words: "Automations" },
  { value: "connection", words: "Connection" },
  { value: "webhooks", words: "Webhooks" },
] as const;
type Tab = (typeof tabs)[number]["value"];
/** They hide what the server would refuse by themselves: viewers read how deliveries and runs went. */
const readTabs: readonly Tab[] = ["automations", "webhooks"];

export function ProjectPage() {
  const { id } = route.useParams();
  const { tab } = route.useSearch();
  const projects = useQuery(projectsQuery);
  const mayWrite = useMayWrite();
  if (!projects.data) return <Pending error={projects.error} />;
  const project = projects.data.find((each) => each.id === id);
  if (!project) {
    return (
      <Empty>
        <p>Project not found.</p>
        <Link to="/projects" className={buttonLook("ordinary")}>
          Show all projects
        </Link>
      </Empty>
    );
  }
  const chosen = tabs.find(({ value }) => value === tab)?.value ?? "general";
  return (
    <>
      <title>{`${project.name} · Emend`}</title>
      <Head title={<VisibleText text={project.name} />}>
        <Link to="/" search={{ project: id }} className={buttonLook("ordinary")}>
          Jobs
        </Link>
        <Link to="/health" search={{ project: id }} className={buttonLook("ordinary")}>
          Site health
        </Link>
        {project.pullsUrl && (
          <Link to="/pulls" search={{ project: id }} className={buttonLook("ordinary")}>
            Pull requests
          </Link>
        )}
      </Head>
      <Tabs label="Settings" tabs={tabs} chosen={chosen} to="/projects/$id" params={{ id }} />
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_340px]">
        {/* Every field is disabled at once for whoever the server would refuse; what is only read stays open. */}
        <fieldset
          disabled={!mayWrite && !readTabs.includes(chosen)}
          className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-6"
        >
          <legend className="sr-only">{tabs.find(({ value }) => value === chosen)?.words}</legend>
          {!mayWrite && <p className="text-quiet">Your role is viewer: you can't change settings.</p>}
          <Panel key={`${id}/${chosen}`} tab={chosen} project={project} />
        </fieldset>
        <Aside project={project} />
      </div>
    </>
  );
}

function Panel({ tab, project }: { tab: Tab; project: DashboardProject }) {
  switch (tab) {
    case "general":
      return (
        <>
          <SettingsForm project={project} groups={generalGroups(project)} />
          <RemoveProject project={project} />
        </>
      );
    case "policy":
      return <SettingsForm project={project} groups={policyGroups(project)} />;
    case "guidance":
      return (
        <>
          <SettingsForm project={project} groups={guidanceGroups} />
          <ContextRepositories project={project} />
        </>
      );
    case "automations":
      return <Automations project={project} />;
    case "connection":
      return (
        <>
          <Connection project={project} />
          <ModelKeys project={project} />
        </>
      );
    case "webhooks":
      return <Webhooks project={project} />;
  }
}

function Aside({ project }: { project: DashboardProject }) {
  return (
    <aside className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
        <h2>Project id</h2>
        <CopyBlock text={project.id} />
        <Quota project={project} />
      </Sheet>
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-2 p-4">
        <h2>Repository</h2>
        <CopyBlock text={project.repositoryUrl} />
        {project.forge === "local" && (
          <>
            <p className="text-quiet">
              To fill an empty repository, push from a checkout of your docs. Use an API key as the password:
            </p>
            <CopyBlock text={`git push ${project.repositoryUrl} HEAD:${project.baseRef ?? "main"}`} />
          </>
        )}
      </Sheet>
    </aside>
  );
}
