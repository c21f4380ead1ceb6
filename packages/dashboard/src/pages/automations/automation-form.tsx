import type { DashboardAutomation, DashboardProject, DashboardTrigger } from "@emend/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { SelectInput, TextInput } from "../../parts/inputs.tsx";
import { Reading } from "../jobs/reading.tsx";
import { TriggerInputs } from "./trigger-inputs.tsx";

const variables = {
  manual: "{{date}}, {{repository}}",
  cron: "{{date}}, {{repository}}",
  push: "{{date}}, {{repository}}, {{commits}}, {{changed_files}}, {{tag}}",
} as const;

const byHand: DashboardTrigger = { kind: "manual" };

/** Writes a new automation, or another version of one. */
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
  const [trigger, setTrigger] = useState<DashboardTrigger>(automation?.trigger ?? byHand);
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
        <TriggerInputs projectId={project.id} trigger={trigger} onTrigger={setTrigger} />
        <Field label="Prompt" help={`You can use ${variables[trigger.kind]}.`}>
          {(control) => (
            <textarea
              {...control}
              required
              rows={3}
              maxLength={20_000}
              className="field-sizing-content max-h-60 min-h-20 w-full resize-none font-serif text-[16px] leading-6"
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
