import type { DashboardKey } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { request } from "../../api/request.ts";
import { Age } from "../../parts/age.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Problem } from "../../parts/notice.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

export function RevokeKey({ apiKey, onClose }: { apiKey: DashboardKey; onClose(): void }) {
  const queries = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => request(`/keys/${apiKey.id}/revoke`, { body: {} }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["keys"] });
      onClose();
    },
  });
  return (
    <Dialog title="Revoke this key?" onClose={onClose}>
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
      <p>Whatever uses it is refused within a second. This cannot be undone.</p>
      <Problem error={revoke.error} />
      <div className="flex justify-end gap-2">
        <Button look="plain" onClick={onClose}>
          Keep it
        </Button>
        <Button look="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke key
        </Button>
      </div>
    </Dialog>
  );
}
