import type { DashboardDelivery } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { deliveriesQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { Age } from "../../parts/age.tsx";
import { Button } from "../../parts/button.tsx";
import { createJobLine } from "../../parts/commands.ts";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

const states = {
  delivered: { icon: "check", colour: "text-good", word: "Delivered" },
  failed: { icon: "cross", colour: "text-bad", word: "Failed" },
  pending: { icon: "queued", colour: "text-quiet", word: "Pending" },
} as const;

/** What was posted to a webhook, newest first. */
export function Deliveries(props: { webhookId: string; projectId: string; mayWrite: boolean }) {
  const { webhookId, projectId, mayWrite } = props;
  const queries = useQueryClient();
  const deliveries = useQuery(deliveriesQuery(webhookId));
  const again = useMutation({
    mutationFn: (id: string) => request(`/deliveries/${id}/redeliver`, { body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["deliveries", webhookId] }),
  });
  if (!deliveries.data) return <Pending error={deliveries.error} />;
  if (deliveries.data.length === 0) {
    return (
      <Empty>
        <p>No deliveries yet. Emend sends one when a job ends:</p>
        <CopyBlock text={createJobLine(projectId)} />
      </Empty>
    );
  }
  return (
    <>
      <Problem error={again.error} />
      <ul className="divide-y divide-line rounded-md border border-line">
        {deliveries.data.map((delivery) => (
          <li
            key={delivery.id}
            className="grid items-center gap-x-4 gap-y-1 px-3 py-1.5 sm:grid-cols-[110px_minmax(0,1fr)_auto_auto]"
          >
            <span className={`inline-flex items-center gap-1.5 ${states[delivery.state].colour}`}>
              <Icon name={states[delivery.state].icon} />
              {states[delivery.state].word}
            </span>
            <span className="min-w-0">
              <Link to="/jobs/$id" params={{ id: delivery.jobId }} className="underline">
                {delivery.event}
              </Link>
              <span className="block truncate text-quiet">
                <VisibleText text={howItWent(delivery)} />
              </span>
            </span>
            <span className="text-quiet">
              <Age at={delivery.lastTryAt ?? delivery.createdAt} />
            </span>
            {mayWrite && (
              <Button
                className="justify-self-start"
                disabled={again.isPending}
                onClick={() => again.mutate(delivery.id)}
              >
                Redeliver
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function howItWent({ tries, lastStatus, lastError }: DashboardDelivery): string {
  if (tries === 0) return "not tried yet";
  const answer = lastStatus === null ? (lastError ?? "no answer") : `answered ${lastStatus}`;
  return tries === 1 ? answer : `${answer}, ${tries} tries`;
}
