import type { AutomationTrigger, DashboardAutomation, DashboardAutomationRun } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { automationRunsQuery } from "../../api/project-queries.ts";
import { request } from "../../api/request.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button } from "../../parts/button.tsx";
import { localTime } from "../../parts/format.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { localTimezone } from "./local-timezone.ts";
import { scheduleWords } from "./schedule.ts";

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
        <p className="line-clamp-2 pt-1 text-[15px] leading-6 wrap-anywhere">
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

/** An automation's trigger, in one line. */
function describeTrigger(trigger: AutomationTrigger): string {
  switch (trigger.kind) {
    case "cron":
      return scheduleWords(trigger);
    case "push":
      return [`after pushes to ${nameOf(trigger)}`, ...refsOf(trigger), ...pathsOf(trigger)].join(", ");
    case "pull_request": {
      const into = trigger.branches.length > 0 ? [`into ${trigger.branches.join(" ")}`] : [];
      return [`pull requests ${trigger.on.join(" or ")} in ${nameOf(trigger)}`, ...into, ...pathsOf(trigger)].join(
        ", ",
      );
    }
    case "webhook":
      return "on webhooks";
    case "manual":
      return "by hand alone";
  }
}

type Push = Extract<AutomationTrigger, { kind: "push" }>;

function nameOf({ repository }: { repository: string }): string {
  return repository === "." ? "the docs repository" : `@${repository}`;
}

function refsOf({ branches, tags }: Push): string[] {
  return [
    ...(branches.length > 0 ? [`branches ${branches.join(" ")}`] : []),
    ...(tags.length > 0 ? [`tags ${tags.join(" ")}`] : []),
  ];
}

function pathsOf({ include, exclude }: Pick<Push, "include" | "exclude">): string[] {
  return [
    ...(include.length > 0 ? [`where ${include.join(" ")} changed`] : []),
    ...(exclude.length > 0 ? [`but ${exclude.join(" ")}`] : []),
  ];
}

const states: Record<DashboardAutomationRun["state"], { icon: IconName; colour: string; word: string }> = {
  waiting: { icon: "queued", colour: "text-quiet", word: "Waiting" },
  started: { icon: "check", colour: "text-good", word: "Started" },
  continued: { icon: "check", colour: "text-good", word: "Continued" },
  merged: { icon: "dots", colour: "text-quiet", word: "Gathered" },
  skipped: { icon: "dots", colour: "text-quiet", word: "Skipped" },
};

/** An automation's last runs, newest first. */
function Runs({ automationId }: { automationId: string }) {
  const runs = useQuery(automationRunsQuery(automationId));
  if (!runs.data) return <Pending error={runs.error} rows={2} />;
  if (runs.data.length === 0) {
    return (
      <Empty>
        <p>No runs yet.</p>
      </Empty>
    );
  }
  return (
    <ul className="max-h-80 divide-y divide-line overflow-y-auto rounded-md border border-line">
      {runs.data.map((run) => (
        <li
          key={run.id}
          className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 px-3 py-1.5 sm:grid-cols-[110px_minmax(0,1fr)_auto]"
        >
          <span className={`inline-flex items-center gap-1.5 ${states[run.state].colour}`}>
            <Icon name={states[run.state].icon} className="translate-y-0.5" />
            {states[run.state].word}
          </span>
          <span className="order-last col-span-2 min-w-0 wrap-anywhere sm:order-none sm:col-span-1">
            <VisibleText text={run.words} />{" "}
            {run.jobId && (
              <Link to="/jobs/$id" params={{ id: run.jobId }} className="underline underline-offset-3">
                The job
              </Link>
            )}
          </span>
          <span className="text-quiet">
            <Age at={run.createdAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}
