import type { DashboardAutomation, DashboardProject } from "@emend/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { automationsQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { VisibleText } from "../../parts/visible-text.tsx";
import { AutomationForm } from "./automation-form.tsx";
import { AutomationRow } from "./automation-row.tsx";

/** What asks for jobs of this project by itself: at times, after pushes, or by a click. */
export function Automations({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const automations = useQuery(automationsQuery(project.id));
  const mayWrite = useMayWrite();
  const [writing, setWriting] = useState<DashboardAutomation | "new" | null>(null);
  const [leaving, setLeaving] = useState<DashboardAutomation | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ["automations", project.id] });
  if (!automations.data) return <Pending error={automations.error} />;
  async function remove() {
    await request(`/automations/${leaving?.id}/remove`, { body: {} });
    await refresh();
  }
  return (
    <Sheet>
      <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-4">
        <h2 className="font-serif text-[18px] leading-7">Automations</h2>
        {mayWrite && <Button onClick={() => setWriting("new")}>Add automation</Button>}
      </div>
      {automations.data.length === 0 && (
        <Empty>
          <p>Start jobs on a schedule, after a push or release, or with one click.</p>
          <CopyBlock text={`emend automation add ${project.id} links "Fix broken links." --cron "0 9 * * 1"`} />
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {automations.data.map((automation) => (
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
