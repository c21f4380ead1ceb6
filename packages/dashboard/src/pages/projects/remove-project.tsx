import type { DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Form } from "../../parts/form.tsx";
import { TextInput } from "../../parts/inputs.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

/** For owners: the one thing on these pages that cannot be undone. */
export function RemoveProject({ project }: { project: DashboardProject }) {
  const [isAsked, setIsAsked] = useState(false);
  const role = useQuery(sessionQuery).data?.role;
  if (role !== "owner") return null;
  return (
    <Sheet className="flex flex-wrap items-center justify-between gap-3 px-5 py-4">
      <div className="min-w-0 flex-1 basis-60">
        <h2>Remove this project</h2>
        <p className="text-quiet">Deletes its jobs, settings and automations. The repository stays.</p>
      </div>
      <Button look="danger" onClick={() => setIsAsked(true)}>
        Remove project
      </Button>
      {isAsked && <Ask project={project} onClose={() => setIsAsked(false)} />}
    </Sheet>
  );
}

function Ask({ project, onClose }: { project: DashboardProject; onClose(): void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const remove = useMutation({
    mutationFn: () => request(`/projects/${project.id}/remove`, { body: { name } }),
    async onSuccess() {
      onClose();
      await navigate({ to: "/projects" });
      await queries.resetQueries();
    },
  });
  return (
    <Dialog title="Remove this project?" onClose={onClose}>
      <Form
        action={remove}
        submit="Remove project"
        look="danger"
        cancel="Cancel"
        isDisabled={name !== project.name}
        onCancel={onClose}
      >
        <p>
          This deletes all of its jobs, diffs, automations, webhooks and settings, and its keys stop working. This can't
          be undone. {wordsOf(project)} The audit log keeps its entries.
        </p>
        <p className="wrap-anywhere">
          Type the project's name to confirm:{" "}
          <b>
            <VisibleText text={project.name} />
          </b>
        </p>
        <TextInput label="Project name" autoFocus autoComplete="off" value={name} onText={setName} />
      </Form>
    </Dialog>
  );
}

function wordsOf({ forge, id }: DashboardProject): string {
  return forge === "local"
    ? `Its pull requests are deleted too. The repository stays on the server's disk as ${id}.git.`
    : "Its repository and its pull requests stay on their forge.";
}
