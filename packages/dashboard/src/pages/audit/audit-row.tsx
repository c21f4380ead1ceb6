import type { DashboardAuditEntry } from "@emend/contract";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Age } from "../../parts/age.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { describeAudit } from "./describe-audit.ts";

export function AuditRow({ entry, onActor }: { entry: DashboardAuditEntry; onActor(actor: string): void }) {
  const { words, about } = describeAudit(entry);
  return (
    <li
      {...rowAttribute}
      tabIndex={-1}
      className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-6 gap-y-0.5 px-4 py-2 -outline-offset-2 md:grid-cols-[minmax(0,1fr)_minmax(0,18rem)_6rem]"
    >
      <p className="col-span-2 min-w-0 wrap-anywhere md:col-span-1">
        {words}
        {about && (
          <>
            {" "}
            <span className="font-medium">
              <VisibleText text={about} />
            </span>
          </>
        )}
      </p>
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-3 self-start text-quiet">
        <button type="button" className="max-w-full truncate hover:text-ink" onClick={() => onActor(entry.actor)}>
          <VisibleText text={entry.actor} />
        </button>
        {entry.address && <span className="font-mono text-[12px] wrap-anywhere">{entry.address}</span>}
      </p>
      <p className="text-right text-quiet">
        <Age at={entry.at} />
      </p>
    </li>
  );
}
