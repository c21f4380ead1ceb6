import type { DashboardContextRepository, DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { contextQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog, Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { forgeNames, forgeOptions } from "./forges.ts";

/** Repositories that a project's jobs may read but not write: the code that the docs describe. */
export function ContextRepositories({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const repositories = useQuery(contextQuery(project.id));
  const [isAdding, setIsAdding] = useState(false);
  const [leaving, setLeaving] = useState<DashboardContextRepository | null>(null);
  if (!repositories.data) return <Pending error={repositories.error} />;
  async function remove() {
    await request(`/projects/${project.id}/context/remove`, { body: { name: leaving?.name } });
    await queries.invalidateQueries({ queryKey: ["context", project.id] });
  }
  return (
    <Sheet>
      <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-4">
        <h2 className="text-[18px] leading-7">Code that the docs describe</h2>
        <Button onClick={() => setIsAdding(true)}>Add repository</Button>
      </div>
      {repositories.data.length === 0 && (
        <Empty>
          <p>
            Add the repositories of code (context repositories). Jobs can read and cite them, but never write to them.
          </p>
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {repositories.data.map((repository) => (
          <li key={repository.name} className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-5 py-2">
            <div className="min-w-0 flex-1 basis-60">
              <p className="truncate font-medium">
                <VisibleText text={`@${repository.name}`} />
              </p>
              <p className="truncate text-quiet">
                {forgeNames[repository.forge]} · {repository.repositoryUrl}
                {repository.baseRef && ` · ${repository.baseRef}`}
              </p>
            </div>
            <Button look="danger" onClick={() => setLeaving(repository)}>
              Remove
            </Button>
          </li>
        ))}
      </ul>
      {isAdding && <AddContext project={project} onClose={() => setIsAdding(false)} />}
      {leaving && (
        <Confirm
          title="Remove this repository?"
          submit="Remove repository"
          onConfirm={remove}
          onClose={() => setLeaving(null)}
        >
          <p>
            Jobs will no longer read <b>@{leaving.name}</b>. The repository itself is not changed.
          </p>
        </Confirm>
      )}
    </Sheet>
  );
}

function AddContext({ project, onClose }: { project: DashboardProject; onClose(): void }) {
  const queries = useQueryClient();
  const [forge, setForge] = useState<DashboardProject["forge"]>("github");
  const [typed, setTyped] = useState({ name: "", repo: "", base: "", credential: "" });
  const field = (name: keyof typeof typed) => ({
    value: typed[name],
    onText: (text: string) => setTyped((before) => ({ ...before, [name]: text })),
  });
  const add = useMutation({
    mutationFn: () => {
      const given = Object.fromEntries(Object.entries(typed).filter(([, text]) => text !== ""));
      return request(`/projects/${project.id}/context`, { body: { ...given, forge } });
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["context", project.id] });
      onClose();
    },
  });
  return (
    <Dialog title="Add a repository of code" onClose={onClose}>
      <Form action={add} submit={add.isPending ? "Checking …" : "Add repository"} onCancel={onClose}>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextInput
            label="Name"
            help="Jobs refer to it as @name/path."
            required
            maxLength={63}
            pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
            isCode
            placeholder="code"
            {...field("name")}
          />
          <SelectInput label="Host" value={forge} onValue={setForge} options={forgeOptions} />
        </div>
        <TextInput
          label={forge === "local" ? "Project ID or URL" : "Address"}
          required
          isCode
          maxLength={1000}
          {...field("repo")}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextInput label="Branch" isCode placeholder="the default branch" maxLength={200} {...field("base")} />
          {forge !== "local" && (
            <TextInput
              label="Token"
              help="Leave empty for a public repository."
              type="password"
              autoComplete="off"
              isCode
              {...field("credential")}
            />
          )}
        </div>
      </Form>
    </Dialog>
  );
}
