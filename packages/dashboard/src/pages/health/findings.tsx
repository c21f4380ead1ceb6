import type { DashboardSiteCheck, DashboardSiteFinding } from "@emend/contract";
import { useState } from "react";
import { CopyBlock } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty } from "../../parts/notice.tsx";
import { Prose } from "../../parts/prose.tsx";
import { VisibleText } from "../../parts/text.tsx";

const severities = {
  error: { icon: "cross", colour: "text-bad", word: "Error" },
  warning: { icon: "warning", colour: "text-warn", word: "Warning" },
  info: { icon: "dots", colour: "text-quiet", word: "Info" },
} as const;

/** The newest findings, worst first, with a filter by kind. */
export function Findings(props: { findings: readonly DashboardSiteFinding[]; latest: DashboardSiteCheck }) {
  const countOf = countsByCheck(props.latest);
  const [chosen, setChosen] = useState("");
  const shown = props.findings.filter(({ check }) => chosen === "" || check === chosen);
  const total =
    chosen === "" ? [...countOf.values()].reduce((sum, count) => sum + count, 0) : (countOf.get(chosen) ?? 0);
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
                {check} ({count})
              </option>
            ))}
          </select>
        )}
      </div>
      <Sheet className="overflow-hidden">
        {total === 0 && (
          <Empty>
            <p>No problems found. To run the same checks in a checkout of the site:</p>
            <CopyBlock text="emend check ." />
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {shown.map((finding, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
            <li key={index}>
              <Row finding={finding} />
            </li>
          ))}
        </ul>
        {shown.length < total && (
          <p className="border-t border-line px-4 py-2 text-quiet">
            {total - shown.length} more are not stored here; <code>emend check</code> lists them all.
          </p>
        )}
      </Sheet>
    </section>
  );
}

/** A check may have errors and warnings, which are counted separately. */
function countsByCheck({ counts }: DashboardSiteCheck): ReadonlyMap<string, number> {
  const countOf = new Map<string, number>();
  for (const { check, count } of counts) countOf.set(check, (countOf.get(check) ?? 0) + count);
  return countOf;
}

function Row({ finding }: { finding: DashboardSiteFinding }) {
  const { icon, colour, word } = severities[finding.severity];
  return (
    <div className="grid gap-x-4 px-4 py-2 md:grid-cols-[96px_minmax(0,1fr)]">
      <span className={`inline-flex items-center gap-1.5 self-start font-medium ${colour}`}>
        <Icon name={icon} />
        {word}
      </span>
      <div className="min-w-0">
        <div className="wrap-anywhere">
          <Prose text={finding.message} />
        </div>
        <p className="font-mono text-[13px] wrap-anywhere text-quiet">
          <VisibleText text={`${finding.path}:${finding.line}`} /> ·{" "}
          <span className="whitespace-nowrap">{finding.check}</span>
        </p>
      </div>
    </div>
  );
}
