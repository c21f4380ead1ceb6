import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { request } from "../../api/request.ts";
import { composerId } from "../../layout/use-shortcuts.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { readDraft, saveDraft } from "./draft.ts";

const examples = [
  "Fix broken links.",
  'Replace "API token" with "access key".',
  "Move guides/auth to security/authentication.",
] as const;

/** What is typed outlives a reload, an expired session and a refusal; it is forgotten once the job is accepted. */
export function Composer(props: { projects: readonly DashboardProject[]; projectId?: string }) {
  const [prompt, setPrompt] = useState(readDraft);
  const [chosenId, setChosenId] = useState<string>();
  const [model, setModel] = useState("");
  const queries = useQueryClient();
  const navigate = useNavigate();
  const project =
    props.projects.find(({ id }) => id === (chosenId ?? props.projectId)) ?? (props.projects[0] as DashboardProject);
  const left = project.settings.createsPerHourMax - project.createsThisHour;

  const create = useMutation({
    mutationFn: () =>
      request<{ id: string }>(`/projects/${project.id}/jobs`, {
        body: { prompt, ...(project.models.includes(model) && { model }) },
      }),
    async onSuccess({ id }) {
      write("");
      void queries.invalidateQueries({ queryKey: ["jobs"] });
      void queries.invalidateQueries({ queryKey: ["projects"] });
      await navigate({ to: "/jobs/$id", params: { id } });
    },
  });

  function write(text: string) {
    setPrompt(text);
    saveDraft(text);
  }
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if (prompt !== "" && !create.isPending) create.mutate();
  }

  return (
    <form
      onSubmit={submit}
      className="mt-6 mb-6 grid grid-cols-[minmax(0,1fr)] gap-3 rounded-md border border-line bg-sheet p-4"
    >
      <textarea
        id={composerId}
        aria-label="What should change in the docs?"
        className="field-sizing-content max-h-[50vh] min-h-16 w-full resize-none border-0 bg-transparent p-0 font-serif text-[17px] leading-6 outline-none"
        placeholder="What should change in the docs?"
        value={prompt}
        onChange={(event) => write(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
        }}
      />
      {prompt === "" && (
        <div className="flex flex-wrap gap-2">
          {examples.map((example) => (
            <button
              key={example}
              type="button"
              className="rounded-md border border-dashed border-line px-2 py-1 text-left text-quiet hover:border-quiet hover:text-ink"
              onClick={() => write(example)}
            >
              {example}
            </button>
          ))}
        </div>
      )}
      <Problem error={create.error} />
      <div className="flex flex-wrap items-center gap-2 border-t border-line pt-3">
        <select
          aria-label="Project"
          className="max-w-60 min-w-0"
          value={project.id}
          onChange={(event) => setChosenId(event.target.value)}
        >
          {props.projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
        {project.models.length > 1 ? (
          <select aria-label="Model" value={model} onChange={(event) => setModel(event.target.value)}>
            {project.models.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ) : (
          <span className="text-quiet">{project.models[0]}</span>
        )}
        <span className={`ml-auto ${left <= 5 ? "text-warn" : "text-quiet"}`}>
          {left > 0 ? `${left} of ${project.settings.createsPerHourMax} left this hour` : "quota used up for now"}
        </span>
        <Button type="submit" look="primary" className="w-full sm:w-auto" disabled={prompt === "" || create.isPending}>
          Start job
        </Button>
      </div>
    </form>
  );
}
