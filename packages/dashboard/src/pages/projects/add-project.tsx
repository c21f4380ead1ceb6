import type { DashboardProject } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Problem } from "../../parts/notice.tsx";

export function AddProject({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [docsDir, setDocsDir] = useState("");
  const add = useMutation({
    mutationFn: () => request<DashboardProject>("/projects", { body: { name, forge: "local", docsDir } }),
    async onSuccess({ id }) {
      await queries.invalidateQueries({ queryKey: ["projects"] });
      await navigate({ to: "/projects/$id", params: { id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <Dialog title="Add a project" onClose={onClose}>
      <p className="text-quiet">
        Its repository is kept here, empty at first: you push your docs to it. One on GitHub, GitLab or Gitea is added
        on the command line, by <code>emend project add</code>.
      </p>
      <form onSubmit={submit} className="grid gap-4">
        <Field label="Name">
          {(id) => (
            <input id={id} required maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Folder of the docs" help="Empty: the whole repository.">
          {(id) => (
            <input
              id={id}
              className="font-mono text-[13px]"
              placeholder="docs"
              value={docsDir}
              onChange={(event) => setDocsDir(event.target.value)}
            />
          )}
        </Field>
        <Problem error={add.error} />
        <div className="flex justify-end gap-2">
          <Button look="plain" onClick={onClose}>
            Not now
          </Button>
          <Button type="submit" look="primary" disabled={add.isPending}>
            Add project
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
