import type { DashboardKey } from "@emend/contract";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Age } from "../../parts/age.tsx";
import { Button } from "../../parts/button.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { ExpiryBadge } from "./expiry-badge.tsx";

interface RowProps {
  apiKey: DashboardKey;
  projects: readonly string[];
  /** Absent for whoever may not. */
  onRotate?(): void;
  onRevoke?(): void;
}

export function KeyRow({ apiKey: key, projects, onRotate, onRevoke }: RowProps) {
  return (
    <li
      {...rowAttribute}
      tabIndex={-1}
      className="grid items-center gap-x-6 gap-y-1 px-4 py-2.5 -outline-offset-2 md:grid-cols-[minmax(0,1fr)_108px_148px_auto]"
    >
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-x-3">
          <span className="min-w-0 truncate font-medium">
            <VisibleText text={key.name} />
          </span>
          <code className="text-quiet">{key.hint}…</code>
          <span className="text-quiet">{key.scope === "write" ? "reads and writes" : "reads"}</span>
        </p>
        <p className="flex gap-1 text-quiet">
          <span className="min-w-0 truncate">
            <VisibleText text={projects.join(", ")} />
            {key.allowList && ` · only from ${key.allowList.join(", ")}`}
          </span>
          <span className="max-w-1/2 flex-none truncate">
            · made by <VisibleText text={key.createdBy} />
          </span>
        </p>
      </div>
      {/* In columns of their own, but for a phone. */}
      <p className="flex flex-wrap gap-x-4 text-quiet md:contents">
        {key.lastUsedAt ? (
          <span>
            used <Age at={key.lastUsedAt} />
          </span>
        ) : (
          <span>never used</span>
        )}
        <ExpiryBadge apiKey={key} />
      </p>
      {onRotate && (
        <p className="flex gap-2">
          <Button onClick={onRotate}>Rotate</Button>
          <Button look="danger" onClick={onRevoke}>
            Revoke
          </Button>
        </p>
      )}
    </li>
  );
}
