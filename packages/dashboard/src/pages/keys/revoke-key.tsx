import type { DashboardKey } from "@emend/contract";
import { useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { Age } from "../../parts/age.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

export function RevokeKey({ apiKey, onClose }: { apiKey: DashboardKey; onClose(): void }) {
  const queries = useQueryClient();
  async function revoke() {
    await request(`/keys/${apiKey.id}/revoke`, { body: {} });
    await queries.invalidateQueries({ queryKey: ["keys"] });
  }
  return (
    <Confirm title="Revoke this key?" submit="Revoke key" onConfirm={revoke} onClose={onClose}>
      <p className="wrap-anywhere">
        <b>
          <VisibleText text={apiKey.name} />
        </b>{" "}
        <code className="text-quiet">{apiKey.hint}…</code>
        {apiKey.lastUsedAt ? (
          <>
            {" "}
            was used <Age at={apiKey.lastUsedAt} />.
          </>
        ) : (
          " was never used."
        )}
      </p>
      <p>Programs that use it lose access within a second. This can't be undone.</p>
    </Confirm>
  );
}
