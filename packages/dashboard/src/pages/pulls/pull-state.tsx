import type { DashboardPullRow } from "@emend/contract";
import { Icon, type IconName } from "../../parts/icon.tsx";

const looks: Record<"open" | "draft" | "merged" | "closed", { icon: IconName; className: string; word: string }> = {
  open: { icon: "open", className: "text-good", word: "Open" },
  draft: { icon: "open", className: "text-quiet", word: "Draft" },
  merged: { icon: "merged", className: "text-merged", word: "Merged" },
  closed: { icon: "cross", className: "text-bad", word: "Closed" },
};

/** Color, icon and word say the same. */
export function PullState({ pull }: { pull: Pick<DashboardPullRow, "state" | "draft"> }) {
  const { icon, className, word } = looks[pull.state === "open" && pull.draft ? "draft" : pull.state];
  return (
    <span className={`inline-flex items-center gap-1.5 font-medium whitespace-nowrap ${className}`}>
      <Icon name={icon} />
      {word}
    </span>
  );
}
