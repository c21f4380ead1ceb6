import type { DashboardKey, DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useProjectChoices } from "../../api/projects.tsx";
import { request } from "../../api/request.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { CheckInput, Form, SelectInput, TextInput } from "../../parts/form.tsx";
import type { ShownKey } from "./new-key.tsx";

interface CreateKeyProps {
  /** Chosen at first. */
  first: DashboardProject | undefined;
  /** The key to replace: both work until the old one ends. */
  like: DashboardKey | null;
  onClose(): void;
  onCreated(key: ShownKey): void;
}

const lives = [
  { value: "30", words: "in 30 days" },
  { value: "90", words: "in 90 days" },
  { value: "365", words: "in a year" },
  { value: "", words: "never" },
] as const;
const overlaps = [
  { value: "7", words: "in 7 days" },
  { value: "30", words: "in 30 days" },
  { value: "0", words: "at once" },
  { value: "", words: "never" },
] as const;
const scopes = [
  { value: "write", words: "read and create jobs" },
  { value: "read", words: "read only" },
  { value: "manage", words: "also change settings" },
] as const;

export function CreateKey({ first, like, onClose, onCreated }: CreateKeyProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(like?.name ?? "");
  const [projectIds, setProjectIds] = useState<readonly string[]>(like?.projectIds ?? (first ? [first.id] : []));
  const choices = useProjectChoices(projectIds);
  const [scope, setScope] = useState<DashboardKey["scope"]>(like?.scope ?? "write");
  const [days, setDays] = useState<string>("90");
  const [overlap, setOverlap] = useState<string>("7");
  const [addresses, setAddresses] = useState(like?.allowList?.join(" ") ?? "");
  const create = useMutation({
    mutationFn: () => {
      const allowList = addresses.split(/[\s,]+/).filter((text) => text !== "");
      const body = {
        name,
        projectIds,
        scope,
        expiresInDays: numberOf(days),
        allowList: allowList.length > 0 ? allowList : null,
        ...(like && { overlapDays: numberOf(overlap) }),
      };
      return request<{ id: string; key: string }>(like ? `/keys/${like.id}/rotate` : "/keys", { body });
    },
    onSuccess({ key }) {
      void queries.invalidateQueries({ queryKey: ["keys"] });
      onCreated({ key, scope, projectId: projectIds[0] ?? "", replaces: like, overlapDays: numberOf(overlap) });
    },
  });
  const toggle = (id: string, isOn: boolean) =>
    setProjectIds((before) => (isOn ? [...before, id] : before.filter((each) => each !== id)));

  return (
    <Dialog title={like ? `Rotate “${like.name}”` : "Create a key"} onClose={onClose}>
      {like && <p className="text-quiet">Creates a new key. Both work until the old one expires.</p>}
      <Form
        action={create}
        submit={like ? "Rotate key" : "Create key"}
        isDisabled={projectIds.length === 0}
        note={projectIds.length === 0 ? "Choose a project first." : ""}
        onCancel={onClose}
      >
        <TextInput
          label="Name"
          help="Where you will use it, for example CI."
          required
          maxLength={200}
          value={name}
          onText={setName}
        />
        <fieldset className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
          <legend className="pb-1 font-semibold">Projects</legend>
          {choices.search}
          <div className="grid max-h-40 grid-cols-[minmax(0,1fr)] gap-1 overflow-y-auto py-0.5">
            {choices.list.map((project) => (
              <CheckInput
                key={project.id}
                label={project.name}
                isOn={projectIds.includes(project.id)}
                onToggle={(isOn) => toggle(project.id, isOn)}
              />
            ))}
          </div>
        </fieldset>
        <div className="grid gap-4 sm:grid-cols-2">
          <SelectInput label="Access" value={scope} onValue={setScope} options={scopes} />
          <SelectInput label="Expires" value={days} onValue={setDays} options={lives} />
          {like && <SelectInput label="Old key expires" value={overlap} onValue={setOverlap} options={overlaps} />}
        </div>
        <TextInput
          label="Allowed IP addresses"
          help="Addresses, or ranges such as 10.0.0.0/8 (CIDR), separated by spaces. Leave empty to allow all."
          isCode
          placeholder="203.0.113.7 10.0.0.0/8"
          value={addresses}
          onText={setAddresses}
        />
      </Form>
    </Dialog>
  );
}

function numberOf(text: string): number | null {
  return text === "" ? null : Number(text);
}
