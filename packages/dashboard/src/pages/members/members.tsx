import type { DashboardInvitation, DashboardMember } from "@emend/contract";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { membersQuery } from "../../api/account-queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { CopyBlock } from "../../parts/copy-button.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { InvitationRow } from "./invitation-row.tsx";
import { Invite } from "./invite.tsx";
import { MemberRow } from "./member-row.tsx";

type Open =
  | { kind: "invite" }
  | { kind: "remove"; member: DashboardMember }
  | { kind: "revoke"; invitation: DashboardInvitation };

/** Who may log in, and as what. */
export function Members() {
  const queries = useQueryClient();
  const { data, error } = useQuery(membersQuery);
  const [open, setOpen] = useState<Open | null>(null);
  if (!data) return <Pending error={error} />;
  const close = () => setOpen(null);
  const send = async (path: string) => {
    await request(path, { body: {} });
    await queries.invalidateQueries();
  };

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6">
      <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h2>
            {data.members.length} {data.members.length === 1 ? "member" : "members"}
          </h2>
          <Button look="primary" onClick={() => setOpen({ kind: "invite" })}>
            Invite member
          </Button>
        </div>
        <Sheet>
          {data.members.length === 0 && (
            <Empty>
              <p>No accounts yet. You logged in with a login link.</p>
              <p>Invite yourself as an owner, or open the link that this command prints:</p>
              <CopyBlock text="emend user link" />
            </Empty>
          )}
          <ul className="divide-y divide-line">
            {data.members.map((member) => (
              <MemberRow key={member.id} member={member} onRemove={() => setOpen({ kind: "remove", member })} />
            ))}
          </ul>
        </Sheet>
      </section>
      {data.invitations.length > 0 && (
        <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <h2>Invitations</h2>
          <Sheet>
            <ul className="divide-y divide-line">
              {data.invitations.map((invitation) => (
                <InvitationRow
                  key={invitation.id}
                  invitation={invitation}
                  onRevoke={() => setOpen({ kind: "revoke", invitation })}
                />
              ))}
            </ul>
          </Sheet>
        </section>
      )}
      {open?.kind === "invite" && <Invite onClose={close} />}
      {open?.kind === "remove" && (
        <Confirm
          title="Remove this member?"
          submit="Remove"
          onConfirm={() => send(`/members/${open.member.id}/remove`)}
          onClose={close}
        >
          <p className="wrap-anywhere">
            <b>
              <VisibleText text={open.member.email} />
            </b>{" "}
            is logged out everywhere and can't log in again. Keys that they created keep working; revoke those
            separately.
          </p>
        </Confirm>
      )}
      {open?.kind === "revoke" && (
        <Confirm
          title="Revoke this invitation?"
          submit="Revoke"
          onConfirm={() => send(`/invitations/${open.invitation.id}/revoke`)}
          onClose={close}
        >
          <p className="wrap-anywhere">
            The link for{" "}
            <b>
              <VisibleText text={open.invitation.email} />
            </b>{" "}
            will stop working.
          </p>
        </Confirm>
      )}
    </div>
  );
}
