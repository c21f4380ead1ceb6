import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type InputHTMLAttributes, useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Field } from "../../parts/field.tsx";
import { Problem } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";

const minuteMs = 60_000;

/** What a form holds: texts, as they are typed. */
function draftOf({ name, baseRef, docsDir, settings }: DashboardProject) {
  return {
    name,
    baseRef: baseRef ?? "",
    docsDir,
    model: settings.model ?? "",
    createsPerHourMax: String(settings.createsPerHourMax),
    lanes: String(settings.lanes),
    stepsMax: String(settings.limits.stepsMax),
    costUsdMax: String(settings.limits.costUsdMax),
    minutesMax: String(settings.limits.wallTimeMsMax / minuteMs),
    draft: settings.draft,
  };
}
type Draft = ReturnType<typeof draftOf>;
type TextField = Exclude<keyof Draft, "draft">;

/** Only what was changed is sent: what was never set keeps following its default. */
function editOf(before: Draft, now: Draft) {
  const changed = <T,>(field: keyof Draft, value: T) => (before[field] === now[field] ? undefined : value);
  return {
    name: changed("name", now.name),
    baseRef: changed("baseRef", now.baseRef || null),
    docsDir: changed("docsDir", now.docsDir),
    settings: {
      model: changed("model", now.model || null),
      createsPerHourMax: changed("createsPerHourMax", Number(now.createsPerHourMax)),
      lanes: changed("lanes", Number(now.lanes)),
      draft: changed("draft", now.draft),
      limits: {
        stepsMax: changed("stepsMax", Number(now.stepsMax)),
        costUsdMax: changed("costUsdMax", Number(now.costUsdMax)),
        wallTimeMsMax: changed("minutesMax", Math.round(Number(now.minutesMax) * minuteMs)),
      },
    },
  };
}

export function EditProject({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const [saved, setSaved] = useState(() => draftOf(project));
  const [draft, setDraft] = useState(saved);
  const isChanged = JSON.stringify(saved) !== JSON.stringify(draft);
  const save = useMutation({
    mutationFn: () =>
      request<DashboardProject>(`/projects/${project.id}`, { method: "PATCH", body: editOf(saved, draft) }),
    onSuccess(edited) {
      setSaved(draftOf(edited));
      setDraft(draftOf(edited));
      void queries.invalidateQueries({ queryKey: ["projects"] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const text = (
    name: TextField,
    label: string,
    more: InputHTMLAttributes<HTMLInputElement> & { help?: string } = {},
  ) => {
    const { help, ...rest } = more;
    return (
      <Field label={label} {...(help && { help })}>
        {(id) => (
          <input
            id={id}
            value={draft[name]}
            onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
            {...rest}
          />
        )}
      </Field>
    );
  };
  const number = { type: "number", required: true, min: 0, step: "any" } as const;

  return (
    <Sheet className="p-5">
      <form onSubmit={submit} className="grid gap-5">
        {text("name", "Name", { required: true, maxLength: 200 })}
        <div className="grid gap-5 sm:grid-cols-2">
          {text("baseRef", "Base branch", { placeholder: "the default branch" })}
          {text("docsDir", "Folder of the docs", { placeholder: "the whole repository" })}
        </div>
        {text("model", "Model", {
          placeholder: project.models[0],
          help: "Empty: the installation's. For example emend/rules, anthropic/…, openai/…",
        })}
        <div className="grid gap-5 sm:grid-cols-2">
          {text("createsPerHourMax", "Jobs an hour", { ...number, step: 1 })}
          {text("lanes", "Jobs at the same time", { ...number, step: 1, min: 1 })}
        </div>
        <div className="grid gap-5 sm:grid-cols-3">
          {text("stepsMax", "Steps a job", { ...number, step: 1, min: 1 })}
          {text("costUsdMax", "Dollars a job", number)}
          {text("minutesMax", "Minutes a job", number)}
        </div>
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={draft.draft}
            onChange={(event) => setDraft({ ...draft, draft: event.target.checked })}
          />
          Open pull requests as drafts
        </label>
        <Problem error={save.error} />
        <div className="flex items-center justify-end gap-3">
          <span className="text-quiet" aria-live="polite">
            {!isChanged && save.isSuccess ? "Saved" : ""}
          </span>
          <Button type="submit" look="primary" disabled={!isChanged || save.isPending}>
            Save
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
