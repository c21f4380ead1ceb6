import type { DashboardKey, DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Problem } from "../../parts/notice.tsx";
import type { ShownKey } from "./new-key.tsx";

interface CreateKeyProps {
  projects: readonly DashboardProject[];
  /** The key that this one is to take the place of: both work until the old one is revoked. */
  like: DashboardKey | null;
  onClose(): void;
  onCreated(key: ShownKey): void;
}

const lives = [30, 90, 365] as const;

export function CreateKey({ projects, like, onClose, onCreated }: CreateKeyProps) {
  const queries = useQueryClient();
  const [name, setName] = useState(like?.name ?? "");
  const [projectIds, setProjectIds] = useState<readonly string[]>(
    like?.projectIds ?? projects.slice(0, 1).map(({ id }) => id),
  );
  const [scope, setScope] = useState<"read" | "write">(like?.scope ?? "write");
  const [days, setDays] = useState<number | null>(90);
  const [addresses, setAddresses] = useState(like?.allowList?.join(" ") ?? "");
  const create = useMutation({
    mutationFn: () => {
      const allowList = addresses.split(/[\s,]+/).filter((text) => text !== "");
      const body = { name, projectIds, scope, expiresInDays: days, allowList: allowList.length > 0 ? allowList : null };
      return request<{ id: string; key: string }>("/keys", { body });
    },
    onSuccess({ key }) {
      void queries.invalidateQueries({ queryKey: ["keys"] });
      onCreated({ key, scope, projectId: projectIds[0] ?? "", replaces: like });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const toggle = (id: string, isOn: boolean) =>
    setProjectIds((before) => (isOn ? [...before, id] : before.filter((each) => each !== id)));

  return (
    <Dialog title={like ? `Rotate “${like.name}”` : "Create a key"} onClose={onClose}>
      {like && <p className="text-quiet">The new key works beside the old one until you revoke that.</p>}
      <form onSubmit={submit} className="grid gap-4">
        <Field label="Name" help="Where it will be used: CI, a release script, a bot.">
          {(id) => (
            <input id={id} required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <fieldset className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-1">
          <legend className="pb-1 font-semibold">Projects</legend>
          <div className="grid max-h-40 grid-cols-[minmax(0,1fr)] gap-1 overflow-y-auto p-0.5">
            {projects.map((project) => (
              <label key={project.id} className="flex items-center gap-2">
                <input
                  type="checkbox"
                  checked={projectIds.includes(project.id)}
                  onChange={(event) => toggle(project.id, event.target.checked)}
                />
                <span className="min-w-0 truncate">{project.name}</span>
              </label>
            ))}
          </div>
        </fieldset>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="May">
            {(id) => (
              <select id={id} value={scope} onChange={(event) => setScope(event.target.value as typeof scope)}>
                <option value="write">read and create jobs</option>
                <option value="read">read only</option>
              </select>
            )}
          </Field>
          <Field label="Expires">
            {(id) => (
              <select
                id={id}
                value={days ?? ""}
                onChange={(event) => setDays(event.target.value === "" ? null : Number(event.target.value))}
              >
                {lives.map((life) => (
                  <option key={life} value={life}>
                    in {life} days
                  </option>
                ))}
                <option value="">never</option>
              </select>
            )}
          </Field>
        </div>
        <Field label="Only from these addresses" help="Addresses or CIDR ranges, by spaces. Empty: from everywhere.">
          {(id) => (
            <input
              id={id}
              className="font-mono text-[13px]"
              placeholder="203.0.113.7 10.0.0.0/8"
              value={addresses}
              onChange={(event) => setAddresses(event.target.value)}
            />
          )}
        </Field>
        <Problem error={create.error} />
        <div className="flex justify-end gap-2">
          <Button look="plain" onClick={onClose}>
            Not now
          </Button>
          <Button type="submit" look="primary" disabled={create.isPending || projectIds.length === 0}>
            Create key
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
