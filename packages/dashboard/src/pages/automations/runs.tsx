import type { DashboardAutomationRun } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { automationRunsQuery } from "../../api/project-queries.ts";
import { Age } from "../../parts/age.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

const states: Record<DashboardAutomationRun["state"], { icon: IconName; colour: string; word: string }> = {
  waiting: { icon: "queued", colour: "text-quiet", word: "Waiting" },
  started: { icon: "check", colour: "text-good", word: "Started" },
  continued: { icon: "check", colour: "text-good", word: "Continued" },
  merged: { icon: "dots", colour: "text-quiet", word: "Gathered" },
  skipped: { icon: "dots", colour: "text-quiet", word: "Skipped" },
};

/** What came of an automation's last runs, newest first. */
export function Runs({ automationId }: { automationId: string }) {
  const runs = useQuery(automationRunsQuery(automationId));
  if (!runs.data) return <Pending error={runs.error} />;
  if (runs.data.length === 0) {
    return (
      <Empty>
        <p>No runs yet. To run it once now:</p>
        <CopyBlock text={`emend automation run ${automationId}`} />
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
