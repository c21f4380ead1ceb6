import type { DashboardProject } from "@emend/contract";
import { type ReactNode, useId, useState } from "react";
import type { Draft } from "./draft.ts";

/** Where the job goes and how, beside the button that starts it. */
export function Options(props: {
  projects: readonly DashboardProject[];
  project: DashboardProject;
  model: string;
  draft: Draft;
  onProject(id: string): void;
  onChange(part: Partial<Draft>): void;
  children: ReactNode;
}) {
  const { project, draft, onChange } = props;
  const id = useId();
  const isAnySet = Boolean(draft.baseRef || draft.draft || draft.preview);
  const [isOpen, setIsOpen] = useState(isAnySet);
  const left = project.settings.createsPerHourMax - project.createsThisHour;
  return (
    <div className="grid gap-3 border-t border-line pt-3">
      {isOpen && (
        <div id={id} className="flex flex-wrap items-center gap-x-6 gap-y-3">
          <label className="flex min-w-0 items-center gap-2">
            <span className="whitespace-nowrap text-quiet">Base branch</span>
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
        </div>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <select
          aria-label="Project"
          className="w-full min-w-0 sm:w-auto sm:max-w-60"
          value={project.id}
          onChange={(event) => props.onProject(event.target.value)}
        >
          {props.projects.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
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
          <span className="text-quiet">{project.models[0]}</span>
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
        {/* Together wherever there is no room for both, but for a phone. */}
        <span className="contents sm:ml-auto sm:flex sm:flex-wrap sm:items-center sm:gap-x-4 sm:gap-y-2">
          <span className={`ml-auto ${left <= 5 ? "text-warn" : "text-quiet"}`}>
            {left > 0 ? `${left} of ${project.settings.createsPerHourMax} left this hour` : "quota used up for now"}
          </span>
          {props.children}
        </span>
      </div>
    </div>
  );
}
