import { type DashboardProject, type DashboardSuggestion, isLanguageModel } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useId, useRef, useState } from "react";
import { ProjectSelect, useProjectChoices, useProjects } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { followOwnJob } from "../../layout/own-jobs.tsx";
import { composerId } from "../../layout/use-shortcuts.ts";
import { AttachButton, ChosenFileList, uploadAll, useChosenFiles } from "../../parts/attached-files.tsx";
import { Button } from "../../parts/button.tsx";
import { CheckInput } from "../../parts/form.tsx";
import { askOf } from "../../parts/format.ts";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { type Draft, readDraft, saveDraft } from "./draft.ts";
import { Reading } from "./reading.tsx";
import { SavedPrompts } from "./saved-prompts.tsx";

/** The text survives a reload, an expired session and a refusal. It is cleared when the job is accepted. */
export function Composer(props: { first: DashboardProject; projectId?: string }) {
  const [draft, setDraft] = useState(readDraft);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const field = useRef<HTMLTextAreaElement>(null);
  const { prompt } = draft;
  // The requested project, then the chosen one; either may be gone.
  const wanted = props.projectId ?? draft.projectId ?? props.first.id;
  const { found, isPending } = useProjects([wanted, ...(draft.alsoIn ?? [])]);
  const project = found.get(wanted) ?? props.first;
  const model = project.models.find((name) => name === draft.model) ?? project.models[0] ?? "";
  const also = (draft.alsoIn ?? []).filter((id) => id !== project.id && found.has(id));
  const [isChoosing, setIsChoosing] = useState(false);
  const [isRefused, setIsRefused] = useState(false);
  const chosen = useChosenFiles();
  const takesFiles = isLanguageModel(model);
  const files = takesFiles ? chosen.files : [];

  const create = useMutation({
    mutationFn: () => startJobs(project.id, also, { ...draft, model }, files),
    async onSuccess({ ids, missing }) {
      chosen.clear();
      change({
        prompt: "",
        baseRef: undefined,
        draft: undefined,
        preview: undefined,
        plan: undefined,
        alsoIn: undefined,
      });
      for (const id of ids) followOwnJob(id);
      void queries.invalidateQueries({ queryKey: ["jobs-head"] });
      void queries.invalidateQueries({ queryKey: ["projects"] });
      const [id = ""] = ids;
      if (also.length === 0) return navigate({ to: "/jobs/$id", params: { id } });
      return navigate({
        to: "/batch",
        search: { ids: ids.join(","), ...(missing.length > 0 && { missing: missing.join(",") }) },
      });
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
    // If the list below is filtered by project, it follows the choice.
    if (props.projectId) void navigate({ to: "/", search: (before) => ({ ...before, project: projectId }) });
  }
  function submit(event?: FormEvent) {
    event?.preventDefault();
    if (prompt !== "" && !isRefused && !isPending && !create.isPending) create.mutate();
  }

  return (
    <>
      <form
        onSubmit={submit}
        className="mt-6 mb-6 grid grid-cols-[minmax(0,1fr)] gap-3 rounded-md border border-line bg-sheet p-4 focus-within:border-quiet"
      >
        <textarea
          ref={field}
          id={composerId}
          aria-label="What should change in the docs?"
          className="field-sizing-content max-h-[50vh] min-h-16 w-full resize-none border-0 bg-transparent p-0 text-[17px] leading-6 outline-none"
          placeholder="What should change in the docs?"
          value={prompt}
          onChange={(event) => change({ prompt: event.target.value })}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) submit();
          }}
          {...(takesFiles && chosen.handlers)}
        />
        {takesFiles && <ChosenFileList chosen={chosen} />}
        {/* What the rules or the server answer comes late: its place is made with the first letter. */}
        <div
          className={`grid grid-cols-[minmax(0,1fr)] content-start gap-2 ${prompt !== "" && model === "emend/rules" ? "min-h-30 sm:min-h-18" : "min-h-9"}`}
        >
          {prompt === "" && <Suggestions projectId={project.id} onChoose={take} />}
          <Reading projectId={project.id} model={model} prompt={prompt} onExample={take} onRefused={setIsRefused} />
          <Problem error={create.error} />
        </div>
        <Options
          project={project}
          model={model}
          draft={draft}
          onProject={choose}
          onChange={change}
          onPrompts={() => setIsChoosing(true)}
          more={takesFiles && <AttachButton chosen={chosen} />}
        >
          <Button
            type="submit"
            look="primary"
            className="w-full sm:w-auto"
            disabled={prompt === "" || isRefused || isPending || create.isPending}
          >
            {create.isPending ? "Starting …" : also.length > 0 ? `Start ${also.length + 1} jobs` : "Start job"}
          </Button>
        </Options>
      </form>
      {/* A form of its own. */}
      {isChoosing && (
        <SavedPrompts project={project} prompt={prompt} onUse={take} onClose={() => setIsChoosing(false)} />
      )}
    </>
  );
}

/** In the first project as it was written, in each further one with its own model; which of those refused it, is told. */
async function startJobs(
  projectId: string,
  also: readonly string[],
  draft: Draft,
  files: readonly File[],
): Promise<{ ids: readonly string[]; missing: readonly string[] }> {
  const start = async (id: string, body: object) =>
    request<{ id: string }>(`/projects/${id}/jobs`, { body: { ...body, ...(await uploadAll(id, files)) } });
  const ids = [(await start(projectId, bodyOf(draft))).id];
  const missing: string[] = [];
  for (const id of also) {
    const { model: _own, ...rest } = bodyOf(draft) as { model?: string };
    const outcome = await start(id, rest).catch(() => null);
    if (outcome) ids.push(outcome.id);
    else missing.push(id);
  }
  return { ids, missing };
}

function bodyOf({ prompt, model, baseRef, draft, preview, plan }: Draft): object {
  const marks = {
    ...(draft && { draft }),
    ...(preview && { preview }),
    ...(plan && model !== "emend/rules" && { plan }),
  };
  return { prompt, model, ...(baseRef && { baseRef }), ...marks };
}

const examples: readonly DashboardSuggestion[] = [
  { prompt: "Fix broken links.", because: "" },
  { prompt: 'Replace "API token" with "access key".', because: "" },
  { prompt: "Move guides/auth to security/authentication.", because: "" },
];

/** Suggested jobs from the site checks, or examples before the first check. */
function Suggestions({ projectId, onChoose }: { projectId: string; onChoose(prompt: string): void }) {
  const found = useQuery({
    queryKey: ["suggestions", projectId],
    queryFn: ({ signal }) =>
      request<{ suggestions: readonly DashboardSuggestion[] }>(`/projects/${projectId}/suggestions`, { signal }),
    staleTime: 60_000,
  });
  // Until the checks' word is there, nothing is offered that they may know to be in vain.
  if (found.isPending) return null;
  const all = found.data?.suggestions ?? [];
  const useful = all.filter(({ isVain, underWay }) => !isVain && !underWay);
  // Examples that are known to change nothing are not offered.
  const shown = useful.length > 0 ? useful : examples.filter(({ prompt }) => !all.some((one) => one.prompt === prompt));
  return (
    <ul aria-label="Suggestions" className="-mx-1 flex min-h-9 gap-2 overflow-x-auto px-1 pb-1 sm:flex-wrap">
      {shown.map(({ prompt, because }) => (
        <li key={prompt} className="max-w-4/5 shrink-0 sm:max-w-full sm:shrink">
          <button
            type="button"
            className="max-w-full truncate rounded-md border border-dashed border-line px-2 py-1 text-left text-quiet hover:border-quiet hover:text-ink"
            onClick={() => onChoose(prompt)}
          >
            <VisibleText text={askOf(prompt)} />
            {because && <span className="text-warn"> · {because}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** As many as one page follows, with the first. */
const alsoMax = 49;

/** The job's project and options, next to the start button. */
function Options(props: {
  project: DashboardProject;
  model: string;
  draft: Draft;
  onProject(id: string): void;
  onChange(part: Partial<Draft>): void;
  onPrompts(): void;
  /** Beside the other choices. */
  more: ReactNode;
  children: ReactNode;
}) {
  const { project, draft, onChange } = props;
  const id = useId();
  const also = draft.alsoIn ?? [];
  const choices = useProjectChoices([project.id]);
  const alsoChoices = useProjectChoices(also);
  const others = alsoChoices.list.filter((each) => each.id !== project.id);
  const isAnySet = Boolean(draft.baseRef || draft.draft || draft.preview || draft.plan || also.length > 0);
  const [isOpen, setIsOpen] = useState(isAnySet);
  const left = project.settings.createsPerHourMax - project.createsThisHour;
  return (
    <div className="grid gap-3 border-t border-line pt-3">
      {isOpen && (
        <div id={id} className="flex flex-wrap items-center gap-x-6 gap-y-3">
          <label className="flex min-w-0 items-center gap-2">
            <span className="whitespace-nowrap text-quiet">Start from branch</span>
            <input
              className="w-44 min-w-0"
              maxLength={200}
              placeholder={project.baseRef ?? "the default branch"}
              value={draft.baseRef ?? ""}
              onChange={(event) => onChange({ baseRef: event.target.value || undefined })}
            />
          </label>
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={draft.draft ?? false}
              onChange={(event) => onChange({ draft: event.target.checked || undefined })}
            />
            Open the pull request as a draft
          </label>
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={draft.preview ?? false}
              onChange={(event) => onChange({ preview: event.target.checked || undefined })}
            />
            Preview only: do not open a pull request
          </label>
          {/* The rules have no plan: a preview shows what they do. */}
          {props.model !== "emend/rules" && (
            <label className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={draft.plan ?? false}
                onChange={(event) => onChange({ plan: event.target.checked || undefined })}
              />
              Plan first: change nothing until I approve
            </label>
          )}
          {(others.length > 0 || alsoChoices.search) && (
            <fieldset className="grid max-h-40 w-full gap-x-6 gap-y-1 overflow-y-auto sm:grid-cols-2 lg:grid-cols-3">
              <legend className="pb-1 text-quiet">Run the same job in more projects</legend>
              {alsoChoices.search}
              {others.slice(0, alsoMax).map((each) => (
                <CheckInput
                  key={each.id}
                  label={each.name}
                  isOn={also.includes(each.id)}
                  onToggle={(isOn) =>
                    onChange({ alsoIn: isOn ? [...also, each.id] : also.filter((one) => one !== each.id) })
                  }
                />
              ))}
            </fieldset>
          )}
        </div>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <ProjectSelect
          choices={choices}
          label="Project"
          className="w-full min-w-0 sm:w-auto sm:max-w-60"
          value={project.id}
          onChoose={props.onProject}
        />
        {project.models.length > 1 ? (
          <select
            aria-label="Model"
            className="max-w-60 min-w-0"
            value={props.model}
            onChange={(event) => onChange({ model: event.target.value })}
          >
            {project.models.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ) : (
          <span className="text-quiet">
            {project.models[0] === "emend/rules" ? "Built-in rules" : project.models[0]}
          </span>
        )}
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          className="min-h-9 px-2 text-quiet hover:text-ink"
          onClick={() => setIsOpen(!isOpen)}
        >
          Options{isAnySet && !isOpen ? " (set)" : ""}
        </button>
        <button type="button" className="min-h-9 px-2 text-quiet hover:text-ink" onClick={props.onPrompts}>
          Saved prompts
        </button>
        {props.more}
        {/* Grouped if there is no room for both, except on a phone. */}
        <span className="contents sm:ml-auto sm:flex sm:flex-wrap sm:items-center sm:gap-x-4 sm:gap-y-2">
          <span className={`ml-auto ${left <= 5 ? "text-warn" : "text-quiet"}`}>
            {left > 0
              ? `${left} of ${project.settings.createsPerHourMax} jobs left this hour`
              : "quota used up for now"}
          </span>
          {props.children}
        </span>
      </div>
    </div>
  );
}
