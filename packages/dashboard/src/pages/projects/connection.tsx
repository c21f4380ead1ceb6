import type { DashboardDiagnosis, DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Button, CopyBlock } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Problem } from "../../parts/notice.tsx";
import { defaultHosts, forgeNames, forgeWords } from "./forges.ts";
import { RepositoryPicker } from "./repository-picker.tsx";

const verdicts = {
  ok: { icon: "check", colour: "text-good", word: "Good" },
  problem: { icon: "cross", colour: "text-bad", word: "Problem" },
  unknown: { icon: "dots", colour: "text-warn", word: "Not known" },
} as const;

/** Keeps the notice of a new project until the page is reloaded. */
export const noticeKey = (projectId: string) => ["notice", projectId];

/** Whether the forge allows what a job needs, in words. */
export function Connection({ project }: { project: DashboardProject }) {
  const look = useMutation({
    mutationFn: () => request<DashboardDiagnosis>(`/projects/${project.id}/diagnosis`, { body: {} }),
  });
  const { forge } = project;
  const notice = useQueryClient().getQueryData<string>(noticeKey(project.id));
  return (
    <>
      <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h2 className="text-[18px] leading-7">
            {forge === "local" ? "Emend hosts this repository" : `Connection to ${forgeNames[forge]}`}
          </h2>
          <Button onClick={() => look.mutate()} disabled={look.isPending}>
            {look.isPending ? "Looking …" : "Test connection"}
          </Button>
        </div>
        <Problem error={look.error ?? (look.data ? null : notice)} />
        {!look.data && !look.error && (
          <p className="text-quiet">Checks every permission that a job needs. Changes nothing.</p>
        )}
        {look.data && (
          <ul className="grid gap-2" aria-live="polite">
            {shownOf(look.data, forge).map(({ name, verdict, words }) => (
              <li key={name} className="grid items-start gap-x-4 sm:grid-cols-[110px_120px_minmax(0,1fr)]">
                <span className={`inline-flex items-center gap-1.5 font-medium ${verdicts[verdict].colour}`}>
                  <Icon name={verdicts[verdict].icon} />
                  {verdicts[verdict].word}
                </span>
                <span className="font-medium">{name}</span>
                <span className="wrap-anywhere">{words}</span>
              </li>
            ))}
          </ul>
        )}
        {look.data?.webhook && (
          <div className="grid grid-cols-[minmax(0,1fr)] gap-2 border-t border-line pt-4">
            <p>
              To make Emend react to comments and merges at once, add a webhook there (content type JSON) with this URL
              and secret:
            </p>
            <CopyBlock text={look.data.webhook.url} />
            <CopyBlock text={look.data.webhook.secret} />
          </div>
        )}
      </Sheet>
      {forge !== "local" && <Repository project={project} onSet={() => look.mutate()} />}
      {forge !== "local" && <Token project={project} help={forgeWords[forge].token} onSet={() => look.mutate()} />}
    </>
  );
}

/** A local repository needs no access checks. */
function shownOf({ checks }: DashboardDiagnosis, forge: DashboardProject["forge"]) {
  return forge === "local" ? checks.filter(({ name }) => name === "git" || name === "pull requests") : checks;
}

/** For a repository that was renamed or moved. */
function Repository({ project, onSet }: { project: DashboardProject; onSet(): void }) {
  const queries = useQueryClient();
  const [repo, setRepo] = useState("");
  const [credential, setCredential] = useState("");
  const [isPicking, setPicking] = useState(false);
  // A token is only sent to the server that it was given for.
  const isElsewhere =
    URL.parse(repo)?.host !== undefined && URL.parse(repo)?.host !== URL.parse(project.repositoryUrl)?.host;
  const set = useMutation({
    mutationFn: (body: { repo: string; credential?: string }) =>
      request(`/projects/${project.id}/repository`, { body }),
    onSuccess() {
      setRepo("");
      setCredential("");
      onSet();
      void queries.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  const action = { ...set, mutate: () => set.mutate({ repo, ...(isElsewhere && { credential }) }) };
  return (
    <Sheet className="grid grid-cols-[minmax(0,1fr)] gap-4 p-5">
      <Form action={action} submit="Change repository" note={set.isSuccess && repo === "" ? "Changed" : ""}>
        <TextInput
          label="New repository address"
          help={`Currently ${project.repositoryUrl}.`}
          required
          isCode
          value={repo}
          onText={setRepo}
        />
        {project.forge in defaultHosts && (
          <Button className="justify-self-start" onClick={() => setPicking(true)}>
            Choose from list
          </Button>
        )}
        {isElsewhere && (
          <TextInput
            label="Token for the new server"
            help="The address is on another server, which does not get the old token."
            type="password"
            autoComplete="off"
            required
            isCode
            value={credential}
            onText={setCredential}
          />
        )}
      </Form>
      {isPicking && (
        <RepositoryPicker
          source={{ from: project.id }}
          onChoose={({ url }) => setRepo(url)}
          onClose={() => setPicking(false)}
        />
      )}
      <div className="flex flex-wrap items-center justify-between gap-3 border-t border-line pt-4">
        <p className="text-quiet">Was the repository renamed or moved on the forge?</p>
        <Button disabled={set.isPending} onClick={() => set.mutate({ repo: "follow" })}>
          Use its new address
        </Button>
      </div>
    </Sheet>
  );
}

function Token({ project, help, onSet }: { project: DashboardProject; help: string; onSet(): void }) {
  const queries = useQueryClient();
  const [credential, setCredential] = useState("");
  const set = useMutation({
    mutationFn: () => request(`/projects/${project.id}/credential`, { body: { credential } }),
    onSuccess() {
      setCredential("");
      onSet();
      void queries.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  return (
    <Sheet className="p-5">
      <Form action={set} submit="Replace token" note={set.isSuccess && credential === "" ? "Replaced" : ""}>
        <TextInput
          label="New token"
          help={`${help} It replaces the current token.`}
          type="password"
          autoComplete="off"
          required
          isCode
          value={credential}
          onText={setCredential}
        />
      </Form>
    </Sheet>
  );
}
