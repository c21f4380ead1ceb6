import type { DashboardSiteFinding } from "@emend/contract";
import type { ReactNode } from "react";
import { Icon } from "./icon.tsx";
import { Prose } from "./prose.tsx";
import { VisibleText } from "./text.tsx";

const severities = {
  error: { icon: "cross", colour: "text-bad", word: "Error" },
  warning: { icon: "warning", colour: "text-warn", word: "Warning" },
  info: { icon: "dots", colour: "text-quiet", word: "Info" },
} as const;

/** One finding of a check: severity, message and place. `children`: what else is known about it. */
export function FindingRow(props: {
  finding: Pick<DashboardSiteFinding, "severity" | "message" | "path" | "line" | "check">;
  children?: ReactNode;
}) {
  const { finding, children } = props;
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
        {children}
      </div>
    </div>
  );
}
