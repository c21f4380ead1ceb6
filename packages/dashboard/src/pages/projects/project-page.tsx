import type { DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { modelsQuery } from "../../api/project-queries.ts";
import { useProjects } from "../../api/projects.tsx";
import { sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, buttonLook, CopyBlock } from "../../parts/button.tsx";
import { Dialog, Head, Sheet } from "../../parts/dialog.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Empty, Pending, Skeleton } from "../../parts/notice.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { Automations } from "../automations/automations.tsx";
import { GateList } from "../gates/gate-list.tsx";
import { AllowedConstructs } from "./allowed-constructs.tsx";
import { Connection } from "./connection.tsx";
import { ContextRepositories } from "./context-repositories.tsx";
import { ImportDocs, importQuery } from "./import-docs.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { Quota } from "./quota.tsx";
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
/** These tabs hide forbidden actions themselves: viewers can read deliveries and runs. */
const readTabs: readonly Tab[] = ["automations", "webhooks"];

export function ProjectPage() {
  const { id } = route.useParams();
  const { tab } = route.useSearch();
  const projects = useProjects([id]);
  const mayWrite = useMayWrite();
  const project = projects.found.get(id);
  if (!project && (projects.isPending || projects.error)) return <Pending error={projects.error} />;
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
        <Link to="/pulls" search={{ project: id }} className={buttonLook("ordinary")}>
          Pull requests
        </Link>
      </Head>
      <Tabs label="Settings" tabs={tabs} chosen={chosen} to="/projects/$id" params={{ id }} />
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_340px]">
        {/* Disables all fields without permission. Read-only parts stay usable. */}
        <fieldset
          disabled={!mayWrite && !readTabs.includes(chosen)}
          className="grid min-h-[70dvh] min-w-0 grid-cols-[minmax(0,1fr)] content-start gap-6 lg:min-h-0"
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
      return <General project={project} />;
    case "policy":
      return (
        <>
          <SettingsForm project={project} groups={policyGroups(project)} />
          <AllowedConstructs project={project} />
          <GateList projectId={project.id} />
        </>
      );
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
      return <Connection project={project} />;
    case "webhooks":
      return <Webhooks project={project} />;
  }
}

/** Shown at once, so that nothing moves when a part has loaded. */
function General({ project }: { project: DashboardProject }) {
  const isLocal = project.forge === "local";
  const models = useQuery(modelsQuery(project.id));
  const content = useQuery({ ...importQuery(project.id), enabled: isLocal });
  if (!models.data || (isLocal && content.isPending)) {
    return models.error ? <Pending error={models.error} /> : <Skeleton className="h-[150dvh] lg:h-[60dvh]" />;
  }
  return (
    <>
      {content.data && <ImportDocs project={project} content={content.data} />}
      <ModelPicker project={project} known={models.data} />
      {/* Nothing to set before there are docs. */}
      {!content.data?.isEmpty && <SettingsForm project={project} groups={generalGroups(project)} />}
      <RemoveProject project={project} />
    </>
  );
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
      </Sheet>
    </aside>
  );
}

/** For owners: the only action on these pages that cannot be undone. */
export function RemoveProject({ project }: { project: DashboardProject }) {
  const [isAsked, setIsAsked] = useState(false);
  const role = useQuery(sessionQuery).data?.role;
  if (role !== "owner") return null;
  return (
    <Sheet className="flex flex-wrap items-center justify-between gap-3 px-5 py-4">
      <div className="min-w-0 flex-1 basis-60">
        <h2>Remove this project</h2>
        <p className="text-quiet">Deletes its jobs, settings and automations. The repository stays.</p>
      </div>
      <Button look="danger" onClick={() => setIsAsked(true)}>
        Remove project
      </Button>
      {isAsked && <Ask project={project} onClose={() => setIsAsked(false)} />}
    </Sheet>
  );
}

function Ask({ project, onClose }: { project: DashboardProject; onClose(): void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const remove = useMutation({
    mutationFn: () => request(`/projects/${project.id}/remove`, { body: { name } }),
    async onSuccess() {
      onClose();
      await navigate({ to: "/projects" });
      await queries.resetQueries();
    },
  });
  return (
    <Dialog title="Remove this project?" onClose={onClose}>
      <Form
        action={remove}
        submit="Remove project"
        look="danger"
        cancel="Cancel"
        isDisabled={name !== project.name}
        onCancel={onClose}
      >
        <p>
          This deletes all of its jobs, diffs, automations, webhooks and settings, and its keys stop working. This can't
          be undone. {wordsOf(project)} The audit log keeps its entries.
        </p>
        <p className="wrap-anywhere">
          Type the project's name to confirm:{" "}
          <b>
            <VisibleText text={project.name} />
          </b>
        </p>
        <TextInput label="Project name" autoFocus autoComplete="off" value={name} onText={setName} />
      </Form>
    </Dialog>
  );
}

function wordsOf({ forge, id }: DashboardProject): string {
  return forge === "local"
    ? `Its pull requests are deleted too. The repository stays on the server's disk as ${id}.git.`
    : "Its repository and its pull requests stay on their forge.";
}
