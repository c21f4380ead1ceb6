import type { DashboardJobRow, DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { projectsQuery } from "../../api/projects.tsx";
import { keysQuery, newestJobsQuery, sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button, buttonLook, CopyBlock } from "../../parts/button.tsx";
import { createKeyLine, shellWord } from "../../parts/commands.ts";
import { Head, Sheet } from "../../parts/dialog.tsx";
import { Field, Form } from "../../parts/form.tsx";
import { jobTitle } from "../../parts/format.ts";
import { Icon } from "../../parts/icon.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { isLive } from "../keys/is-live.ts";

/** From an empty installation to a first pull request in two steps in the browser. Scripts can do the same with a key. */
export function StartPage() {
  const session = useQuery(sessionQuery);
  const projects = useQuery(projectsQuery);
  const keys = useQuery(keysQuery);
  const jobs = useQuery(newestJobsQuery({}));
  const [secret, setSecret] = useState<string | null>(null);
  if (!session.data || !projects.data || !keys.data || !jobs.data) {
    return <Pending error={session.error ?? projects.error ?? keys.error ?? jobs.error} />;
  }
  const project = projects.data.at(-1) ?? null;
  const shared = { project, url: session.data.publicUrl };
  const hasKey = keys.data.some(isLive);
  const [job = null] = jobs.data.jobs;
  const isLocal = projects.data.some(({ id, forge }) => id === job?.projectId && forge === "local");
  return (
    <div className="mx-auto max-w-[760px]">
      <title>Start · Emend</title>
      <Head title={job ? "All set" : "Two steps to a first pull request"}>
        <Link to="/" className={buttonLook("ordinary")}>
          {job ? "Go to jobs" : "Skip"}
        </Link>
      </Head>
      <ol className="grid grid-cols-[minmax(0,1fr)] gap-4">
        <ProjectStep project={project} />
        <JobStep {...shared} done={job && <Outcome job={job} isLocal={isLocal} />} secret={secret} />
      </ol>
      <div className="pt-8">
        <KeyStep {...shared} hasKey={hasKey} secret={secret} onSecret={setSecret} />
      </div>
    </div>
  );
}

const lines = [
  { name: "Your docs, hosted by Emend", text: 'emend project add "Docs" --forge local --repo ./my-docs' },
  {
    name: "Your docs on GitHub (or GitLab, Gitea, Bitbucket, Azure DevOps)",
    text: 'emend project add "Docs" --forge github --repo https://github.com/you/docs --token-env GITHUB_TOKEN',
  },
];

export function ProjectStep({ project }: { project: DashboardProject | null }) {
  const queries = useQueryClient();
  const take = useMutation({
    mutationFn: () => request("/start/sample", { body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["projects"] }),
  });
  const done = project && (
    <>
      <VisibleText text={project.name} /> <code className="text-quiet">{project.id}</code>
    </>
  );
  return (
    <Step number={1} title="Add a project" done={done} lines={lines}>
      {!project && (
        <>
          <p>
            A project is a docs repository. Use the sample docs to look around, or add your own: a folder, a zip file or
            a repository.
          </p>
          <Problem error={take.error} />
          <div className="flex flex-wrap gap-2">
            <Button look="primary" disabled={take.isPending} onClick={() => take.mutate()}>
              Use the sample docs
            </Button>
            <Link to="/projects/new" className={buttonLook("ordinary")}>
              Add your docs
            </Link>
          </div>
        </>
      )}
    </Step>
  );
}

interface KeyStepProps {
  project: DashboardProject | null;
  url: string;
  hasKey: boolean;
  secret: string | null;
  onSecret(secret: string): void;
}

export function KeyStep({ project, url, hasKey, secret, onSecret }: KeyStepProps) {
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: (projectId: string) => {
      const body = { name: "First key", projectIds: [projectId], scope: "write", expiresInDays: 90, allowList: null };
      return request<{ key: string }>("/keys", { body });
    },
    onSuccess({ key }) {
      onSecret(key);
      return queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  const id = project?.id ?? "PROJECT";
  const lines = [
    { name: "Create one", text: createKeyLine(id) },
    {
      name: "Try it",
      text: `curl ${url}/v2/agent/${id}/jobs -H "Authorization: Bearer ${secret ?? "$EMEND_API_KEY"}"`,
    },
  ];
  return (
    <Step
      number={null}
      title="Optional: an API key for scripts and CI"
      done={hasKey ? (secret ? "Created. It expires in 90 days." : "Done.") : null}
      isOpen={secret !== null}
      lines={lines}
    >
      {secret && (
        <>
          <p>Copy it now. You won't see it again.</p>
          <CopyBlock text={secret} />
        </>
      )}
      {!hasKey && (
        <>
          <p>In the browser you don't need one.</p>
          <Problem error={create.error} />
          <p>
            <Button disabled={!project || create.isPending} onClick={() => project && create.mutate(project.id)}>
              Create key
            </Button>
          </p>
        </>
      )}
    </Step>
  );
}

interface JobStepProps {
  project: DashboardProject | null;
  url: string;
  done: ReactNode;
  secret: string | null;
}

const samplePrompt =
  'Move guides/auth to security/authentication, replace "API token" with "access key", and fix broken links.';

export function JobStep({ project, url, done, secret }: JobStepProps) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState<string | null>(null);
  const prompt = typed ?? (project?.name === "Sample docs" ? samplePrompt : "Fix broken links.");
  const create = useMutation({
    mutationFn: () => request<{ id: string }>(`/projects/${project?.id}/jobs`, { body: { prompt } }),
    onSuccess: ({ id }) => navigate({ to: "/jobs/$id", params: { id } }),
  });
  const id = project?.id ?? "PROJECT";
  const key = secret ?? "$EMEND_API_KEY";
  const lines = [
    {
      name: "With the command line",
      text: `EMEND_URL=${url} EMEND_API_KEY=${key} \\\n  emend job create ${id} ${shellWord(prompt)} --wait`,
    },
    {
      name: "With curl",
      text: `curl -X POST ${url}/v2/agent/${id}/job \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d ${shellWord(JSON.stringify({ prompt }))}`,
    },
  ];
  return (
    <Step number={2} title="Run your first job" done={done} lines={lines}>
      {!done && (
        <Form action={create} submit="Run it" isDisabled={!project || prompt === ""} look="primary">
          <Field label="What should change in the docs?">
            {(control) => (
              <textarea
                {...control}
                rows={3}
                className="field-sizing-content max-h-60 min-h-20 w-full resize-none text-[16px] leading-6"
                value={prompt}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
          </Field>
        </Form>
      )}
    </Step>
  );
}

/** Leads to the pull request, or to the job while there is none. */
function Outcome({ job, isLocal }: { job: DashboardJobRow; isLocal: boolean }) {
  const { pullRequest, id, projectId } = job;
  const title = <VisibleText text={jobTitle(job)} />;
  const look = "underline underline-offset-3";
  if (!pullRequest) {
    return (
      <Link to="/jobs/$id" params={{ id }} className={look}>
        {job.status === "active" ? "Running" : "Job"}: {title}
      </Link>
    );
  }
  const number = String(pullRequest.number);
  return isLocal ? (
    <Link to="/pulls/$projectId/$number" params={{ projectId, number }} className={look}>
      Pull request #{number}: {title}
    </Link>
  ) : (
    <a href={pullRequest.url} rel="noreferrer" className={look}>
      Pull request #{number}: {title}
    </a>
  );
}

interface StepProps {
  /** Null: it can be left out. */
  number: number | null;
  title: string;
  /** The result. Null while it is open. */
  done: ReactNode;
  /** Its commands are unfolded. */
  isOpen?: boolean;
  /** The commands for the same step. */
  lines: readonly { name: string; text: string }[];
  children: ReactNode;
}

export function Step({ number, title, done, isOpen = false, lines, children }: StepProps) {
  const Tag = number === null ? "div" : "li";
  return (
    <Tag>
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
        <h2 className="flex items-center gap-3">
          <span
            aria-hidden="true"
            className={`grid size-6 flex-none place-items-center rounded-full border ${done ? "border-good text-good" : "border-line text-quiet"}`}
          >
            {done ? <Icon name="check" /> : (number ?? "+")}
          </span>
          {title}
        </h2>
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 empty:hidden sm:pl-9">
          {done && <div className="wrap-anywhere">{done}</div>}
          {children}
          {lines.length > 0 && (
            <details open={isOpen}>
              <summary className="text-quiet">From the command line</summary>
              <div className="grid grid-cols-[minmax(0,1fr)] gap-2 pt-3">
                {lines.map(({ name, text }) => (
                  <div key={name} className="grid grid-cols-[minmax(0,1fr)] gap-1">
                    <p className="text-quiet">{name}</p>
                    <CopyBlock text={text} />
                  </div>
                ))}
              </div>
            </details>
          )}
        </div>
      </Sheet>
    </Tag>
  );
}
