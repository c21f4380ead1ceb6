import type { DashboardProject, Delivery, Webhook, WebhookEvent } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { carryOut } from "../../api/operations.ts";
import { deliveriesQuery, webhooksQuery } from "../../api/project-queries.ts";
import { Button, CommandLine, CopyBlock } from "../../parts/button.tsx";
import { createJobLine } from "../../parts/commands.ts";
import { Confirm, Dialog, ResultDialog, Sheet } from "../../parts/dialog.tsx";
import { CheckInput, Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";

/** The project's webhooks and their deliveries. */
export function Webhooks({ project }: { project: DashboardProject }) {
  const queries = useQueryClient();
  const webhooks = useQuery(webhooksQuery(project.id));
  const mayWrite = useMayWrite();
  const [isAdding, setIsAdding] = useState(false);
  const [leaving, setLeaving] = useState<Webhook | null>(null);
  const refresh = () => queries.invalidateQueries(webhooksQuery(project.id));
  if (!webhooks.data) return <Pending error={webhooks.error} />;
  async function remove() {
    if (leaving) await carryOut("webhooks.remove", { id: leaving.id });
    await refresh();
  }
  return (
    <Sheet>
      <div className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-4">
        <h2 className="text-[18px] leading-7">Webhooks</h2>
        {mayWrite && <Button onClick={() => setIsAdding(true)}>Add webhook</Button>}
      </div>
      {webhooks.data.webhooks.length === 0 && (
        <Empty>
          <p>Get a signed request or a Slack message when a job ends or its pull request is merged.</p>
          <CommandLine text={`emend webhook add https://example.com/hooks/emend --project ${project.id}`} />
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {webhooks.data.webhooks.map((webhook) => (
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
  webhook: Webhook;
  projectId: string;
  mayWrite: boolean;
  onChanged(): Promise<void>;
  onRemove(): void;
}) {
  const { webhook, mayWrite } = props;
  const queries = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const [isRotating, setIsRotating] = useState(false);
  const isEnabled = webhook.disabledAt === null;
  const toggle = useMutation({
    mutationFn: () => carryOut(isEnabled ? "webhooks.disable" : "webhooks.enable", { id: webhook.id }),
    onSuccess: props.onChanged,
  });
  const test = useMutation({
    mutationFn: () => carryOut("webhooks.test", { id: webhook.id }),
    onSuccess: () => {
      setIsOpen(true);
      return queries.invalidateQueries(deliveriesQuery(webhook.id));
    },
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
              {isEnabled && (
                <Button disabled={test.isPending} onClick={() => test.mutate()}>
                  Send test
                </Button>
              )}
              {webhook.format === "standard" && <Button onClick={() => setIsRotating(true)}>Rotate secret</Button>}
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
      <Problem error={toggle.error ?? test.error} />
      {isRotating && <RotateSecret webhookId={webhook.id} onClose={() => setIsRotating(false)} />}
      {isOpen && <Deliveries webhookId={webhook.id} projectId={props.projectId} mayWrite={mayWrite} />}
    </li>
  );
}

function RotateSecret({ webhookId, onClose }: { webhookId: string; onClose(): void }) {
  const rotate = useMutation({
    mutationFn: () => carryOut("webhooks.rotate", { id: webhookId }),
  });
  if (rotate.data) {
    return (
      <ResultDialog title="New webhook secret" onClose={onClose}>
        <p>Copy it now. You won't see it again. Messages carry the signatures of both secrets for a day.</p>
        <CopyBlock text={rotate.data.secret} />
      </ResultDialog>
    );
  }
  return (
    <Dialog title="Rotate the webhook secret?" onClose={onClose}>
      <Form action={rotate} submit="Rotate webhook secret" onCancel={onClose}>
        <p>Emend creates a new secret. The old one stays valid for a day, so you can change the receiver.</p>
      </Form>
    </Dialog>
  );
}

const states = {
  delivered: { icon: "check", colour: "text-good", word: "Delivered" },
  failed: { icon: "cross", colour: "text-bad", word: "Failed" },
  pending: { icon: "queued", colour: "text-quiet", word: "Pending" },
} as const;

/** A webhook's deliveries, newest first. */
function Deliveries(props: { webhookId: string; projectId: string; mayWrite: boolean }) {
  const { webhookId, projectId, mayWrite } = props;
  const queries = useQueryClient();
  const deliveries = useQuery(deliveriesQuery(webhookId));
  const again = useMutation({
    mutationFn: (id: string) => carryOut("deliveries.redeliver", { id }),
    onSuccess: () => queries.invalidateQueries(deliveriesQuery(webhookId)),
  });
  if (!deliveries.data) return <Pending error={deliveries.error} rows={2} />;
  if (deliveries.data.deliveries.length === 0) {
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
        {deliveries.data.deliveries.map((delivery) => (
          <li
            key={delivery.id}
            className="grid items-center gap-x-4 gap-y-1 px-3 py-1.5 sm:grid-cols-[110px_minmax(0,1fr)_auto_auto]"
          >
            <span className={`inline-flex items-center gap-1.5 ${states[delivery.state].colour}`}>
              <Icon name={states[delivery.state].icon} />
              {states[delivery.state].word}
            </span>
            <span className="min-w-0">
              {delivery.jobId === null ? (
                delivery.event
              ) : (
                <Link to="/jobs/$id" params={{ id: delivery.jobId }} className="underline">
                  {delivery.event}
                </Link>
              )}
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

function howItWent({ tries, lastStatus, lastError }: Delivery): string {
  if (tries === 0) return "not tried yet";
  const answer = lastStatus === null ? (lastError ?? "no answer") : `answered ${lastStatus}`;
  return tries === 1 ? answer : `${answer}, ${tries} tries`;
}

const events = [
  { value: "job.completed", words: "a job completed" },
  { value: "job.failed", words: "a job failed" },
  { value: "job.archived", words: "a job was archived" },
  { value: "job.question", words: "a job asks a question" },
  { value: "job.waiting", words: "a job waits for approval" },
  { value: "pull_request.merged", words: "its pull request was merged" },
  { value: "pull_request.closed", words: "its pull request was closed" },
  { value: "budget.warning", words: "80 % of a monthly budget is used" },
  { value: "budget.exceeded", words: "a monthly budget is used up" },
] as const;
const formats = [
  { value: "standard", words: "Signed JSON (Standard Webhooks)" },
  { value: "slack", words: "Slack message" },
] as const;

function AddWebhook({ projectId, onClose }: { projectId: string; onClose(): void }) {
  const queries = useQueryClient();
  const [url, setUrl] = useState("");
  const [format, setFormat] = useState<"standard" | "slack">("standard");
  const [chosen, setChosen] = useState<readonly WebhookEvent[]>(events.map(({ value }) => value));
  const add = useMutation({
    mutationFn: () => carryOut("webhooks.add", { projectId, url: url.trim(), format, events: [...chosen] }),
    onSuccess: () => queries.invalidateQueries(webhooksQuery(projectId)),
  });
  if (add.data && format === "standard") {
    return (
      <ResultDialog title="Webhook secret" onClose={onClose}>
        <p>Copy it now. You won't see it again. Use it to verify that a request comes from Emend.</p>
        <CopyBlock text={add.data.secret} />
      </ResultDialog>
    );
  }
  if (add.data) {
    return (
      <ResultDialog title="Slack webhook added" onClose={onClose}>
        <p>Slack needs no secret.</p>
      </ResultDialog>
    );
  }
  const toggle = (event: WebhookEvent, isOn: boolean) =>
    setChosen((before) => (isOn ? [...before, event] : before.filter((each) => each !== event)));
  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <Form action={add} submit="Add webhook" isDisabled={chosen.length === 0} onCancel={onClose}>
        <TextInput
          label="Address"
          type="url"
          required
          maxLength={2000}
          isCode
          placeholder="https://example.com/hooks/emend"
          value={url}
          onText={setUrl}
        />
        <SelectInput label="Format" value={format} onValue={setFormat} options={formats} />
        <fieldset className="grid gap-1">
          <legend className="pb-1 font-semibold">When</legend>
          {events.map(({ value, words }) => (
            <CheckInput
              key={value}
              label={words}
              isOn={chosen.includes(value)}
              onToggle={(isOn) => toggle(value, isOn)}
            />
          ))}
        </fieldset>
      </Form>
    </Dialog>
  );
}
