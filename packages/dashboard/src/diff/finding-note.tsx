import type { JobRun } from "@emend/contract";
import { Icon } from "../parts/icon.tsx";
import { ProseLine } from "../parts/prose.tsx";

export type Finding = NonNullable<JobRun["findings"]>["introduced"][number];

/** A finding at its line. */
export function FindingNote(props: { finding: Finding; onEdit: ((line: number) => void) | null | undefined }) {
  const { finding, onEdit } = props;
  const colour = finding.severity === "error" ? "text-bad" : "text-warn";
  return (
    <p className={`flex gap-2 bg-hush px-4 py-2 font-sans text-[14px] ${colour}`}>
      <Icon name="warning" className="mt-0.5" />
      <span className="min-w-0 wrap-anywhere">
        {finding.severity.charAt(0).toUpperCase() + finding.severity.slice(1)}, line {finding.line}:{" "}
        <ProseLine text={finding.message} />
      </span>
      {onEdit && (
        <button
          type="button"
          aria-label={`Edit line ${finding.line}`}
          className="ml-auto self-start underline underline-offset-3"
          onClick={() => onEdit(finding.line)}
        >
          Edit
        </button>
      )}
    </p>
  );
}
