import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";

type Saved = DashboardProject["settings"]["prompts"];

/** A project's prompts, to use, to save and to remove. They are part of its settings. */
export function SavedPrompts(props: {
  project: DashboardProject;
  /** What is being written. */
  prompt: string;
  onUse(prompt: string): void;
  onClose(): void;
}) {
  const { project, prompt } = props;
  const saved = project.settings.prompts;
  const queries = useQueryClient();
  const [name, setName] = useState(prompt.trim().split("\n", 1)[0]?.slice(0, 100) ?? "");
  const change = useMutation({
    mutationFn: (prompts: Saved) =>
      request(`/projects/${project.id}`, { method: "PATCH", body: { settings: { prompts } } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["projects"] }),
  });
  const isNew = prompt.trim() !== "" && !saved.some((one) => one.prompt === prompt);
  const save = {
    ...change,
    mutate: () => change.mutate([...saved.filter((one) => one.name !== name.trim()), { name: name.trim(), prompt }]),
  };
  return (
    <Dialog title="Saved prompts" onClose={props.onClose}>
      {saved.length === 0 && <p className="text-quiet">No saved prompts yet. Write one, then save it here.</p>}
      <ul className="grid max-h-80 divide-y divide-line overflow-y-auto empty:hidden">
        {saved.map((one) => (
          <li key={one.name} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-2">
            <div className="min-w-0 flex-1 basis-48">
              <p className="truncate font-semibold">
                <VisibleText text={one.name} />
              </p>
              <p className="line-clamp-2 text-quiet wrap-anywhere">
                <VisibleText text={one.prompt} />
              </p>
            </div>
            <span className="flex gap-2">
              <Button
                aria-label={`Use ${one.name}`}
                onClick={() => {
                  props.onUse(one.prompt);
                  props.onClose();
                }}
              >
                Use
              </Button>
              <Button
                look="danger"
                aria-label={`Remove ${one.name}`}
                disabled={change.isPending}
                onClick={() => change.mutate(saved.filter((other) => other !== one))}
              >
                Remove
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {isNew ? (
        <Form
          action={save}
          submit="Save prompt"
          isDisabled={name.trim() === ""}
          cancel="Close"
          onCancel={props.onClose}
        >
          <TextInput label="Name" help="Saves what you have written." maxLength={100} value={name} onText={setName} />
        </Form>
      ) : (
        <>
          <Problem error={change.error} />
          <div className="flex justify-end">
            <Button onClick={props.onClose}>Close</Button>
          </div>
        </>
      )}
    </Dialog>
  );
}
