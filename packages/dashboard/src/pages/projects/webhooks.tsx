import type { DashboardProject, DashboardWebhook } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { webhooksQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { VisibleText } from "../../parts/visible-text.tsx";
import { AddWebhook } from "./add-webhook.tsx";
import { Deliveries } from "./deliveries.tsx";

/** Where the project's events are posted, and how each posting went. */
export function Webhooks({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const webhooks = useQuery(webhooksQuery(project.id));
  const mayWrite = useMayWrite();
  const [isAdding, setIsAdding] = useState(false);
  const [leaving, setLeaving] = useState<DashboardWebhook | null>(null);
  const refresh = () => queries.invalidateQueries({ queryKey: ["webhooks", project.id] });
  if (!webhooks.data) return <Pending error={webhooks.error} />;
  async function remove() {
    await request(`/webhooks/${leaving?.id}/remove`, { body: {} });
    await refresh();
  }
  return (
    <Sheet>
      <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-4">
        <h2 className="font-serif text-[18px] leading-7">Webhooks</h2>
        {mayWrite && <Button onClick={() => setIsAdding(true)}>Add webhook</Button>}
      </div>
      {webhooks.data.length === 0 && (
        <Empty>
          <p>Get a signed request or a Slack message when a job ends or its pull request is merged.</p>
          <CopyBlock text={`emend webhook add https://example.com/hooks/emend --project ${project.id}`} />
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {webhooks.data.map((webhook) => (
          <WebhookRow
            key={webhook.id}
            webhook={webhook}
            projectId={project.id}
            mayWrite={mayWrite}
            onChanged={refresh}
            onRemove={() => setLeaving(webhook)}
          />
        ))}
      </ul>
      {isAdding && <AddWebhook projectId={project.id} onClose={() => setIsAdding(false)} />}
      {leaving && (
        <Confirm
          title="Remove this webhook?"
          submit="Remove webhook"
          onConfirm={remove}
          onClose={() => setLeaving(null)}
        >
          <p className="wrap-anywhere">
            Emend stops sending to <VisibleText text={leaving.url} />
            and deletes the delivery log.
          </p>
        </Confirm>
      )}
    </Sheet>
  );
}

function WebhookRow(props: {
  webhook: DashboardWebhook;
  projectId: string;
  mayWrite: boolean;
  onChanged(): Promise<void>;
  onRemove(): void;
}) {
  const { webhook, mayWrite } = props;
  const [isOpen, setIsOpen] = useState(false);
  const isEnabled = webhook.disabledAt === null;
  const toggle = useMutation({
    mutationFn: () => request(`/webhooks/${webhook.id}`, { method: "PATCH", body: { isEnabled: !isEnabled } }),
    onSuccess: props.onChanged,
  });
  return (
    <li className="grid grid-cols-[minmax(0,1fr)] gap-2 px-5 py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-60">
          <p className="truncate font-mono text-[13px]">
            <VisibleText text={webhook.url} />
          </p>
          <p className="text-quiet">
            {webhook.format === "slack" ? "Slack" : "Signed JSON"} · {webhook.events.join(", ")}
          </p>
          {!isEnabled && (
            <p className="flex items-center gap-1.5 text-warn">
              <Icon name="warning" /> Disabled{webhook.disabledReason ? `: ${webhook.disabledReason}` : ""}
            </p>
          )}
        </div>
        <div className="flex flex-wrap gap-2">
          <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            Deliveries
          </Button>
          {mayWrite && (
            <>
              <Button disabled={toggle.isPending} onClick={() => toggle.mutate()}>
                {isEnabled ? "Disable" : "Enable"}
              </Button>
              <Button look="danger" onClick={props.onRemove}>
                Remove
              </Button>
            </>
          )}
        </div>
      </div>
      <Problem error={toggle.error} />
      {isOpen && <Deliveries webhookId={webhook.id} projectId={props.projectId} mayWrite={mayWrite} />}
    </li>
  );
}
