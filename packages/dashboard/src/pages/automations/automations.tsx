import type { DashboardAutomation, DashboardProject } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { automationsQuery, contextQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { ChooseModel } from "../../parts/choose-model.tsx";
import { Confirm, Sheet } from "../../parts/dialog.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { AutomationForm } from "./automation-form.tsx";
import { AutomationRow } from "./automation-row.tsx";

/** The project's automations: on a schedule, after pushes, or by hand. */
export function Automations({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const automations = useQuery(automationsQuery(project.id));
  const mayWrite = useMayWrite();
  const [writing, setWriting] = useState<DashboardAutomation | "new" | null>(null);
  const [leaving, setLeaving] = useState<DashboardAutomation | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ["automations", project.id] });
  if (!automations.data) return <Pending error={automations.error} />;
  const { automations: known, presets } = automations.data;
  async function remove() {
    await request(`/automations/${leaving?.id}/remove`, { body: {} });
    await refresh();
  }
  return (
    <Sheet>
      <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-4">
        <h2 className="text-[18px] leading-7">Automations</h2>
        {mayWrite && <Button onClick={() => setWriting("new")}>Add automation</Button>}
      </div>
      {known.length === 0 && (
        <Empty>
          <p>Start jobs on a schedule, after a push or release, or with one click.</p>
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {known.map((automation) => (
          <AutomationRow
            key={automation.id}
            automation={automation}
            mayWrite={mayWrite}
            onChanged={refresh}
            onEdit={() => setWriting(automation)}
            onRemove={() => setLeaving(automation)}
          />
        ))}
      </ul>
      {mayWrite && (
        <Presets
          projectId={project.id}
          presets={presets.filter(({ title }) => !known.some(({ name }) => name === title))}
          onAdded={refresh}
        />
      )}
      {writing && (
        <AutomationForm
          project={project}
          automation={writing === "new" ? null : writing}
          onSaved={refresh}
          onClose={() => setWriting(null)}
        />
      )}
      {leaving && (
        <Confirm
          title="Remove this automation?"
          submit="Remove automation"
          onConfirm={remove}
          onClose={() => setLeaving(null)}
        >
          <p className="wrap-anywhere">
            <b>
              <VisibleText text={leaving.name} />
            </b>{" "}
            stops, and its history is deleted. Its jobs and pull requests stay.
          </p>
        </Confirm>
      )}
    </Sheet>
  );
}

/** Ready-made automations: one click adds one. */
function Presets(props: {
  projectId: string;
  presets: readonly { name: string; title: string; description: string; problem: string | null }[];
  onAdded(): Promise<void>;
}) {
  const repositories = useQuery(contextQuery(props.projectId)).data ?? [];
  const [repository, setRepository] = useState("");
  const chosen = repository || repositories[0]?.name;
  const add = useMutation({
    mutationFn: (preset: string) =>
      request(`/projects/${props.projectId}/automations`, {
        body: { preset, ...(chosen === undefined ? {} : { repository: chosen }) },
      }),
    onSuccess: props.onAdded,
  });
  if (props.presets.length === 0) return null;
  return (
    <section aria-label="Presets" className="border-t border-line">
      <div className="flex flex-wrap items-center justify-between gap-3 px-5 pt-4">
        <h3>Presets</h3>
        {repositories.length > 1 && (
          <select aria-label="Code repository" value={chosen} onChange={(event) => setRepository(event.target.value)}>
            {repositories.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </div>
      <Problem error={add.error} />
      <ul className="divide-y divide-line">
        {props.presets.map(({ name, title, description, problem }) => (
          <li key={name} className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-5 py-3">
            <div className="min-w-0 flex-1 basis-60">
              <p>{title}</p>
              <p className="text-quiet">{description}</p>
            </div>
            {problem === null ? (
              <Button disabled={add.isPending} aria-label={`Add: ${title}`} onClick={() => add.mutate(name)}>
                Add
              </Button>
            ) : (
              <p className="text-quiet">
                {problem}. <ChooseModel projectId={props.projectId} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
