import type { DashboardJobRow, FailureCode, JobPhase, JobStatus } from "@emend/contract";
import { Icon, type IconName } from "./icon.tsx";

const finals: Record<Exclude<JobStatus, "active">, { icon: IconName; className: string; word: string }> = {
  completed: { icon: "check", className: "text-good", word: "Completed" },
  failed: { icon: "cross", className: "text-bad", word: "Failed" },
  archived: { icon: "archived", className: "text-quiet", word: "Archived" },
};
/** Canceled by a person: nothing went wrong. */
const cancelled = { icon: "cross", className: "text-quiet", word: "Cancelled" } as const;

const attentions = {
  waiting: { icon: "queued", className: "text-warn", word: "Waiting for you" },
  refused: { icon: "warning", className: "text-warn", word: "Refused" },
} as const;

/** A job's status: always an icon and a word. */
export function Status(props: {
  status: JobStatus;
  phase: JobPhase;
  failureCode: FailureCode | null;
  attention: DashboardJobRow["attention"];
}) {
  const { status, phase, attention } = props;
  const shown = attention
    ? attentions[attention]
    : status === "active"
      ? {
          icon: phase === "queued" ? ("queued" as const) : ("running" as const),
          className: phase === "queued" ? "text-quiet" : "text-ink",
          word: phase.charAt(0).toUpperCase() + phase.slice(1),
        }
      : status === "failed" && props.failureCode === "cancelled"
        ? cancelled
        : finals[status];
  return (
    <span className={`inline-flex items-center gap-1.5 font-medium whitespace-nowrap ${shown.className}`}>
      <Icon name={shown.icon} />
      {shown.word}
    </span>
  );
}
