import type { DashboardInvitation } from "@emend/contract";
import { Button } from "../../parts/button.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";

const dayMs = 24 * 60 * 60 * 1000;

export function InvitationRow({ invitation, onRevoke }: { invitation: DashboardInvitation; onRevoke(): void }) {
  const days = Math.max(1, Math.ceil((Date.parse(invitation.expiresAt) - Date.now()) / dayMs));
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-2.5">
      <span className="min-w-0 flex-1 basis-48 truncate font-medium">
        <VisibleText text={invitation.email} />
      </span>
      <span className="text-quiet">
        {invitation.role} · expires in {days} {days === 1 ? "day" : "days"}
      </span>
      <Button look="danger" onClick={onRevoke} aria-label={`Revoke the invitation of ${invitation.email}`}>
        Revoke
      </Button>
    </li>
  );
}
