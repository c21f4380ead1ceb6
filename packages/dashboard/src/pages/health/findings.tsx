import type { DashboardSiteCheck, DashboardSiteFinding } from "@emend/contract";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { checkWords, FindingList } from "../../parts/finding-row.tsx";
import { Empty, Problem } from "../../parts/notice.tsx";
import { PagePlace } from "../../parts/page-place.tsx";
import { useMayWrite } from "../../parts/use-may-write.ts";
import { useStartJob } from "./use-start-job.ts";

/** The section about the code lists these, each with its cause. */
const toldByTruth: ReadonlySet<string> = new Set(["stale-reference", "changed-claim", "gone-claim"]);

/** The newest findings, worst first, with a filter by kind. */
export function Findings(props: {
  projectId: string;
  findings: readonly DashboardSiteFinding[];
  latest: DashboardSiteCheck;
}) {
  const countOf = countsByCheck(props.latest);
  const [chosen, setChosen] = useState("");
  const shown = props.findings.filter(({ check }) => (chosen === "" ? !toldByTruth.has(check) : check === chosen));
  const total =
    chosen === "" ? [...countOf.values()].reduce((sum, count) => sum + count, 0) : (countOf.get(chosen) ?? 0);
  if (countOf.size === 0 && props.latest.counts.length > 0) return null;
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2" aria-label="Findings">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h2>
          {total} {total === 1 ? "finding" : "findings"}
        </h2>
        {countOf.size > 1 && (
          <select aria-label="Check" value={chosen} onChange={(event) => setChosen(event.target.value)}>
            <option value="">All checks</option>
            {[...countOf].map(([check, count]) => (
              <option key={check} value={check}>
                {checkWords[check] ?? check} ({count})
              </option>
            ))}
          </select>
        )}
      </div>
      <Sheet className="overflow-hidden">
        {total === 0 && (
          <Empty>
            <p>No problems found.</p>
          </Empty>
        )}
        <FindingList
          findings={shown}
          place={(finding) => <PagePlace projectId={props.projectId} {...finding} />}
          more={(finding) => <ProposeFix projectId={props.projectId} finding={finding} />}
        />
        {shown.length < total && (
          <p className="border-t border-line px-4 py-2 text-quiet">
            {total - shown.length} more are not stored here; <code>emend check</code> lists them all.
          </p>
        )}
      </Sheet>
    </section>
  );
}

/** Starts the job that fixes this finding only. */
export function ProposeFix({ projectId, finding }: { projectId: string; finding: DashboardSiteFinding }) {
  const start = useStartJob(projectId);
  const mayWrite = useMayWrite();
  const { fix, path, line } = finding;
  if (!mayWrite || fix === undefined) return null;
  return (
    <div>
      <Problem error={start.error} />
      <Button
        disabled={start.isPending}
        aria-label={`Propose a fix for ${path}:${line}`}
        onClick={() => start.mutate(fix)}
      >
        Propose a fix
      </Button>
    </div>
  );
}

/** A check may have errors and warnings, which are counted separately. */
function countsByCheck({ counts }: DashboardSiteCheck): ReadonlyMap<string, number> {
  const countOf = new Map<string, number>();
  for (const { check, count } of counts) {
    if (!toldByTruth.has(check)) countOf.set(check, (countOf.get(check) ?? 0) + count);
  }
  return countOf;
}
