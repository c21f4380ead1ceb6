import type { AutomationTrigger, DashboardAutomation, DashboardProject } from "@emend/contract";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { contextQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, Form, LinesInput, linesOf, SelectInput, TextInput } from "../../parts/form.tsx";
import { Reading } from "../jobs/reading.tsx";
import { localTimezone } from "./local-timezone.ts";
import { ScheduleInputs } from "./schedule-inputs.tsx";

const variables = {
  manual: "{{date}}, {{repository}}",
  cron: "{{date}}, {{repository}}",
  push: "{{date}}, {{repository}}, {{commits}}, {{changed_files}}, {{tag}}",
  pull_request:
    "{{date}}, {{repository}}, {{pull_request}}, {{title}}, {{description}}, {{issues}}, {{diff}}, {{commits}}, {{changed_files}}",
  webhook: "{{date}}, {{repository}}, {{event}}",
} as const;

const byHand: AutomationTrigger = { kind: "manual" };

/** Creates or edits an automation. */
export function AutomationForm(props: {
  project: DashboardProject;
  /** Null: a new one. */
  automation: DashboardAutomation | null;
  onSaved(): Promise<void>;
  onClose(): void;
}) {
  const { project, automation, onClose } = props;
  const [name, setName] = useState(automation?.name ?? "");
  const [prompt, setPrompt] = useState(automation?.prompt ?? "");
  const [model, setModel] = useState(automation?.model ?? "");
  const [trigger, setTrigger] = useState<AutomationTrigger>(automation?.trigger ?? byHand);
  const save = useMutation({
    mutationFn: () => {
      const body = { name, prompt, model: model === "" ? null : model, trigger };
      return automation
        ? request(`/automations/${automation.id}`, { method: "PATCH", body })
        : request(`/projects/${project.id}/automations`, { body });
    },
    async onSuccess() {
      await props.onSaved();
      onClose();
    },
  });
  const models = [...new Set([...project.models, ...(automation?.model ? [automation.model] : [])])];
  return (
    <Dialog title={automation ? "Edit the automation" : "Add an automation"} onClose={onClose}>
      <Form action={save} submit={automation ? "Save automation" : "Add automation"} onCancel={onClose}>
        <TextInput label="Name" required autoFocus maxLength={100} value={name} onText={setName} />
        <TriggerInputs
          projectId={project.id}
          automationId={automation?.id ?? null}
          trigger={trigger}
          onTrigger={setTrigger}
        />
        <Field label="Prompt" help={`You can use ${variables[trigger.kind]}.`}>
          {(control) => (
            <textarea
              {...control}
              required
              rows={3}
              maxLength={20_000}
              className="field-sizing-content max-h-60 min-h-20 w-full resize-none text-[16px] leading-6"
              placeholder="Fix broken links."
              value={prompt}
              onChange={(event) => setPrompt(event.target.value)}
            />
          )}
        </Field>
        <Reading
          projectId={project.id}
          model={model === "" ? (project.models[0] ?? "") : model}
          prompt={prompt}
          onExample={setPrompt}
        />
        <SelectInput
          label="Model"
          value={model}
          onValue={setModel}
          options={[
            { value: "", words: `The project's (${project.models[0]})` },
            ...models.map((value) => ({ value, words: value })),
          ]}
        />
      </Form>
    </Dialog>
  );
}

const kinds = [
  { value: "manual", words: "Manually" },
  { value: "cron", words: "On a schedule" },
  { value: "push", words: "After a push" },
  { value: "pull_request", words: "On pull requests" },
  { value: "webhook", words: "On a webhook" },
] as const;
type Watch = Extract<AutomationTrigger, { kind: "push" | "pull_request" }>;
const noPaths: Pick<Extract<Watch, { kind: "push" }>, "branches" | "tags" | "include" | "exclude"> = {
  branches: [],
  tags: [],
  include: [],
  exclude: [],
};

/** The trigger's fields. */
function TriggerInputs(props: {
  projectId: string;
  /** Null: a new one. */
  automationId: string | null;
  trigger: AutomationTrigger;
  onTrigger(trigger: AutomationTrigger): void;
}) {
  const { trigger, onTrigger } = props;
  const repositories = useQuery(contextQuery(props.projectId)).data ?? [];
  function choose(kind: AutomationTrigger["kind"]) {
    switch (kind) {
      case "manual":
      case "webhook":
        return onTrigger({ kind });
      case "cron":
        return onTrigger({ kind, expression: "0 9 * * 1", timezone: localTimezone() });
      case "push":
        return onTrigger({ kind, repository: repositories[0]?.name ?? ".", ...noPaths });
      case "pull_request": {
        const { tags: _, ...paths } = noPaths;
        return onTrigger({ kind, repository: repositories[0]?.name ?? ".", on: ["merged"], ...paths });
      }
    }
  }
  return (
    <>
      <SelectInput label="When" value={trigger.kind} onValue={choose} options={kinds} />
      {trigger.kind === "cron" && <ScheduleInputs trigger={trigger} onTrigger={onTrigger} />}
      {trigger.kind === "webhook" && <WebhookHelp id={props.automationId} />}
      {(trigger.kind === "push" || trigger.kind === "pull_request") && (
        <WatchInputs watch={trigger} names={[...repositories.map(({ name }) => name), "."]} onWatch={onTrigger} />
      )}
    </>
  );
}

/** Where to send webhooks. Their secret is shown on the console alone. */
function WebhookHelp({ id }: { id: string | null }) {
  if (id === null) return <p className="text-muted">Its address and secret are made when you add it.</p>;
  const url = new URL(`../hooks/automations/${id}`, document.baseURI).href;
  return (
    <p className="text-muted">
      Send signed JSON to <code className="break-all">{url}</code>. <code>emend automation show {id}</code> prints the
      secret.
    </p>
  );
}

const pullEvents = ["opened", "updated", "merged"] as const;

function WatchInputs({
  watch,
  names,
  onWatch,
}: {
  watch: Watch;
  names: readonly string[];
  onWatch(watch: Watch): void;
}) {
  const known = names.includes(watch.repository) ? names : [watch.repository, ...names];
  return (
    <>
      <SelectInput
        label="Repository"
        value={watch.repository}
        onValue={(repository) => onWatch({ ...watch, repository })}
        options={known.map((value) => ({ value, words: value === "." ? "The docs' own repository" : value }))}
      />
      {watch.kind === "pull_request" && (
        <fieldset className="flex flex-wrap gap-4">
          <legend className="mb-1 font-medium">Events</legend>
          {pullEvents.map((event) => (
            <label key={event} className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={watch.on.includes(event)}
                onChange={({ target }) =>
                  onWatch({
                    ...watch,
                    on: pullEvents.filter((one) => (one === event ? target.checked : watch.on.includes(one))),
                  })
                }
              />
              {event}
            </label>
          ))}
        </fieldset>
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Globs
          label="Branches"
          help={watch.kind === "push" ? "Leave both empty for the default branch." : "That it asks to merge into."}
          value={watch.branches}
          onValue={(branches) => onWatch({ ...watch, branches })}
        />
        {watch.kind === "push" && (
          <Globs
            label="Tags"
            help="For example v*."
            value={watch.tags}
            onValue={(tags) => onWatch({ ...watch, tags })}
          />
        )}
        <Globs
          label="Only these paths"
          help="For example src/**."
          value={watch.include}
          onValue={(include) => onWatch({ ...watch, include })}
        />
        <Globs
          label="Except these paths"
          help="One pattern per line."
          value={watch.exclude}
          onValue={(exclude) => onWatch({ ...watch, exclude })}
        />
      </div>
    </>
  );
}

function Globs(props: { label: string; help: string; value: readonly string[]; onValue(value: string[]): void }) {
  // As typed, with an empty line at the end.
  const [text, setText] = useState(props.value.join("\n"));
  return (
    <LinesInput
      label={props.label}
      help={props.help}
      value={text}
      onText={(next) => {
        setText(next);
        props.onValue(linesOf(next));
      }}
    />
  );
}
