import type { DashboardAutomation } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { localTime } from "../../parts/local-time.ts";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { describeTrigger } from "./describe-trigger.ts";
import { localTimezone } from "./local-timezone.ts";
import { Runs } from "./runs.tsx";

export function AutomationRow(props: {
  automation: DashboardAutomation;
  mayWrite: boolean;
  onChanged(): Promise<void>;
  onEdit(): void;
  onRemove(): void;
}) {
  const { automation, mayWrite } = props;
  const queries = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const isPaused = automation.pausedAt !== null;
  const act = useMutation({
    mutationFn: (action: "run" | "pause" | "resume") =>
      request(`/automations/${automation.id}/${action}`, { body: {} }),
    async onSuccess(_answer, action) {
      if (action === "run") setIsOpen(true);
      await queries.invalidateQueries({ queryKey: ["automation-runs", automation.id] });
      await props.onChanged();
    },
  });
  return (
    <li {...rowAttribute} tabIndex={-1} className="grid grid-cols-[minmax(0,1fr)] gap-2 px-5 py-3 -outline-offset-2">
      <div className="grid grid-cols-[minmax(0,1fr)]">
        <p className="truncate font-medium">
          <VisibleText text={automation.name} />
        </p>
        <p className="text-quiet wrap-anywhere">
          <VisibleText text={describeTrigger(automation.trigger)} />
          {automation.model && <VisibleText text={` · ${automation.model}`} />}
        </p>
        <Standing automation={automation} />
        <p className="line-clamp-2 pt-1 font-serif text-[15px] leading-6 wrap-anywhere">
          <VisibleText text={automation.prompt} />
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        {mayWrite && (
          <Button disabled={act.isPending} onClick={() => act.mutate("run")}>
            Run now
          </Button>
        )}
        <Button aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Recent runs
        </Button>
        {mayWrite && (
          <>
            <Button onClick={props.onEdit}>Edit</Button>
            <Button disabled={act.isPending} onClick={() => act.mutate(isPaused ? "resume" : "pause")}>
              {isPaused ? "Resume" : "Pause"}
            </Button>
            <Button look="danger" onClick={props.onRemove}>
              Remove
            </Button>
          </>
        )}
      </div>
      <Problem error={act.error} />
      {isOpen && <Runs automationId={automation.id} />}
    </li>
  );
}

function Standing({ automation: { pausedAt, trigger, dueAt, problem } }: { automation: DashboardAutomation }) {
  if (pausedAt !== null) return <Warning words="Paused. It still runs when you start it." />;
  if (problem !== null) return <Warning words={problem} />;
  if (trigger.kind !== "cron" || dueAt === null) return null;
  return (
    <p className="text-quiet">
      next <time dateTime={dueAt}>{localTime(dueAt)}</time>
      {trigger.timezone !== localTimezone() && " in your time zone"}
    </p>
  );
}

function Warning({ words }: { words: string }) {
  return (
    <p className="flex items-center gap-1.5 text-warn">
      <Icon name="warning" />
      <VisibleText text={words} />
    </p>
  );
}
