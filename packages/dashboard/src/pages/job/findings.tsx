import { type JobRun, wholeChange } from "@emend/contract";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Icon } from "../../parts/icon.tsx";
import { PagePlace } from "../../parts/page-place.tsx";
import { ProseLine } from "../../parts/prose.tsx";
import { VisibleText } from "../../parts/text.tsx";

type Finding = NonNullable<JobRun["findings"]>["fixed"][number];

/** Longer lists start folded. */
const fewMax = 5;

/** Policy violations, new findings and fixed findings. Long lists are folded. */
export function Findings({ run, projectId, isHosted }: { run: JobRun; projectId: string; isHosted: boolean }) {
  const { findings, violations } = run;
  // Where Emend hosts the pull request, its branch is edited; elsewhere the page on the base branch.
  const pull = isHosted && run.pullRequest?.state === "open" ? String(run.pullRequest.number) : null;
  const place = ({ path, line }: Finding) =>
    path === wholeChange ? (
      path
    ) : pull === null ? (
      <PagePlace projectId={projectId} path={path} line={line} />
    ) : (
      <Link
        to="/pulls/$projectId/$number"
        params={{ projectId, number: pull }}
        search={{ edit: path, line }}
        className="underline underline-offset-3"
      >
        <VisibleText text={`${path}:${line}`} />
      </Link>
    );
  if (violations.length === 0 && !findings?.introducedCount && !findings?.fixedCount) return null;
  return (
    <section aria-label="Checks" className="grid gap-3 rounded-md border border-line bg-sheet px-4 py-3">
      {violations.length > 0 && (
        <div className="text-bad">
          <h2>Refused by the project's policy</h2>
          <ul>
            {violations.map(({ path, rule }) => (
              <li key={`${path} ${rule}`} className="wrap-anywhere">
                <code>
                  <VisibleText text={path} />
                </code>{" "}
                <VisibleText text={rule} />
              </li>
            ))}
          </ul>
        </div>
      )}
      {findings && findings.introducedCount > 0 && (
        <FindingList
          title={`${findings.introducedCount} new ${noun(findings.introducedCount)}`}
          icon="warning"
          colour="text-warn"
          list={findings.introduced}
          place={place}
          isOpen
        />
      )}
      {findings && findings.fixedCount > 0 && (
        <FindingList
          title={`${findings.fixedCount} ${noun(findings.fixedCount)} fixed`}
          icon="check"
          colour="text-good"
          list={findings.fixed}
          place={({ path, line }) => <VisibleText text={`${path}:${line}`} />}
          isOpen={findings.fixedCount <= fewMax}
        />
      )}
    </section>
  );
}

function noun(count: number): string {
  return count === 1 ? "finding" : "findings";
}

function FindingList(props: {
  title: string;
  icon: "check" | "warning";
  colour: string;
  list: readonly Finding[];
  place(finding: Finding): ReactNode;
  isOpen?: boolean;
}) {
  return (
    <details open={props.isOpen} className="group">
      <summary className={`flex items-center gap-2 font-semibold ${props.colour}`}>
        <Icon name={props.icon} />
        {props.title}
        <Icon name="chevron" className="ml-auto text-quiet group-open:rotate-90" />
      </summary>
      <ul className="grid gap-1 pt-2 pl-6">
        {props.list.map((finding, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two of one line may say the same
          <li key={index} className="wrap-anywhere">
            <code className="text-quiet">{props.place(finding)}</code> <ProseLine text={finding.message} />
            {finding.dispute !== undefined && (
              <p className="text-quiet">
                The agent disagrees: <ProseLine text={finding.dispute} />
              </p>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
