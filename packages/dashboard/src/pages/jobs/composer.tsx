import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useRef, useState } from "react";
import { request } from "../../api/request.ts";
import { composerId } from "../../layout/use-shortcuts.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/notice.tsx";
import { type Draft, readDraft, saveDraft } from "./draft.ts";
import { Options } from "./options.tsx";
import { Reading } from "./reading.tsx";
import { Suggestions } from "./suggestions.tsx";

/** What is typed outlives a reload, an expired session and a refusal; it is forgotten once the job is accepted. */
export function Composer(props: { projects: readonly DashboardProject[]; projectId?: string }) {
  const [draft, setDraft] = useState(readDraft);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const field = useRef<HTMLTextAreaElement>(null);
  const { prompt } = draft;
  // What one came here for, then what was chosen; a project may have gone since.
  const project =
    props.projects.find(({ id }) => id === (props.projectId ?? draft.projectId)) ??
    (props.projects[0] as DashboardProject);
  const model = project.models.find((name) => name === draft.model) ?? project.models[0] ?? "";

  const create = useMutation({
    mutationFn: () => request<{ id: string }>(`/projects/${project.id}/jobs`, { body: bodyOf({ ...draft, model }) }),
    async onSuccess({ id }) {
      change({ prompt: "", baseRef: undefined, draft: undefined, preview: undefined });
      void queries.invalidateQueries({ queryKey: ["jobs-head"] });
      void queries.invalidateQueries({ queryKey: ["projects"] });
      await navigate({ to: "/jobs/$id", params: { id } });
    },
  });

  function change(part: Partial<Draft>) {
    const next = { ...draft, ...part };
    setDraft(next);
    saveDraft(next);
  }
  function take(text: string) {
    change({ prompt: text });
    field.current?.focus();
  }
  function choose(projectId: string) {
    change({ projectId });
    // The list below may show one project alone: then it shows this one.
    if (props.projectId) void navigate({ to: "/", search: (before) => ({ ...before, project: projectId }) });
  }
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if (prompt !== "" && !create.isPending) create.mutate();
  }

  return (
    <form
      onSubmit={submit}
      className="mt-6 mb-6 grid grid-cols-[minmax(0,1fr)] gap-3 rounded-md border border-line bg-sheet p-4 focus-within:border-quiet"
    >
      <textarea
        ref={field}
        id={composerId}
        aria-label="What should change in the docs?"
        className="field-sizing-content max-h-[50vh] min-h-16 w-full resize-none border-0 bg-transparent p-0 font-serif text-[17px] leading-6 outline-none"
        placeholder="What should change in the docs?"
        value={prompt}
        onChange={(event) => change({ prompt: event.target.value })}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
        }}
      />
      {prompt === "" && <Suggestions projectId={project.id} onChoose={take} />}
      <Reading projectId={project.id} model={model} prompt={prompt} onExample={take} />
      <Problem error={create.error} />
      <Options
        projects={props.projects}
        project={project}
        model={model}
        draft={draft}
        onProject={choose}
        onChange={change}
      >
        <Button type="submit" look="primary" className="w-full sm:w-auto" disabled={prompt === "" || create.isPending}>
          {create.isPending ? "Starting …" : "Start job"}
        </Button>
      </Options>
    </form>
  );
}

function bodyOf({ prompt, model, baseRef, draft, preview }: Draft): object {
  return { prompt, model, ...(baseRef && { baseRef }), ...(draft && { draft }), ...(preview && { preview }) };
}
