import type { DashboardKey } from "@emend/contract";
import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "../../api/queries.ts";
import { CopyBlock } from "../../parts/button.tsx";
import { ResultDialog } from "../../parts/dialog.tsx";

export interface ShownKey {
  key: string;
  scope: DashboardKey["scope"];
  projectId: string;
  replaces: DashboardKey | null;
  /** The replaced key's overlap. Null: until it is revoked. */
  overlapDays: number | null;
}

/** Shows a key, once. */
export function NewKey({ shown, onClose }: { shown: ShownKey; onClose(): void }) {
  const session = useQuery(sessionQuery);
  const url = `${session.data?.publicUrl ?? ""}/v2/agent/${shown.projectId}`;
  return (
    <ResultDialog title="Your new key" onClose={onClose}>
      <p>Copy it now. You won't see it again.</p>
      <CopyBlock text={shown.key} />
      <p>Try it:</p>
      <CopyBlock text={shown.scope !== "read" ? createLine(url, shown.key) : listLine(url, shown.key)} />
      {shown.replaces && (
        <p className="text-quiet">
          The old key, <code>{shown.replaces.hint}…</code>, {endOf(shown.overlapDays)}
        </p>
      )}
    </ResultDialog>
  );
}

function endOf(overlapDays: number | null): string {
  if (overlapDays === null) return "works until you revoke it.";
  return overlapDays === 0 ? "was revoked." : `works for up to ${overlapDays} more days, or until you revoke it.`;
}

function createLine(url: string, key: string): string {
  return `curl -X POST ${url}/job \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"prompt":"Fix broken links."}'`;
}

function listLine(url: string, key: string): string {
  return `curl ${url}/jobs -H "Authorization: Bearer ${key}"`;
}
