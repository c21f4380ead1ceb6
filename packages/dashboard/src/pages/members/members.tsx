import type { DashboardInvitation, DashboardMember, MemberRole } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { membersQuery } from "../../api/account-queries.ts";
import { request } from "../../api/request.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button, CopyBlock } from "../../parts/button.tsx";
import { Confirm, Dialog, ResultDialog, Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Empty, Pending, Problem } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { roleOptions } from "./role-words.ts";

type Open =
  | { kind: "invite" }
  | { kind: "remove"; member: DashboardMember }
  | { kind: "revoke"; invitation: DashboardInvitation };

/** The members and their roles. */
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

const dayMs = 24 * 60 * 60 * 1000;

function InvitationRow({ invitation, onRevoke }: { invitation: DashboardInvitation; onRevoke(): void }) {
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

/** Creates a link and shows it once. Emend sends no mail, so it is passed on by hand. */
function Invite({ onClose }: { onClose(): void }) {
  const queries = useQueryClient();
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<MemberRole>("viewer");
  const invite = useMutation({
    mutationFn: () => request<{ link: string }>("/invitations", { body: { email, role } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["members"] }),
  });
  if (invite.data) {
    return (
      <ResultDialog title="Send this link" onClose={onClose}>
        <p className="wrap-anywhere">
          It lets <b>{email}</b> join as {role}, once, within seven days. You won't see it again.
        </p>
        <CopyBlock text={invite.data.link} />
      </ResultDialog>
    );
  }
  return (
    <Dialog title="Invite member" onClose={onClose}>
      <Form action={invite} submit="Create link" onCancel={onClose}>
        <TextInput label="Email address" type="email" required autoFocus value={email} onText={setEmail} />
        <SelectInput label="Role" value={role} onValue={setRole} options={roleOptions} />
      </Form>
    </Dialog>
  );
}

function MemberRow({ member, onRemove }: { member: DashboardMember; onRemove(): void }) {
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: (role: MemberRole) => request(`/members/${member.id}/role`, { body: { role } }),
    onSettled: () => queries.invalidateQueries(),
  });
  return (
    <li
      {...rowAttribute}
      tabIndex={-1}
      className="grid items-center gap-x-6 gap-y-2 px-4 py-2.5 -outline-offset-2 md:grid-cols-[minmax(0,1fr)_auto_auto]"
    >
      <div className="min-w-0">
        <p className="truncate font-medium">
          <VisibleText text={member.name} />
          {member.isSelf && <span className="font-normal text-quiet"> · you</span>}
        </p>
        <p className="truncate text-quiet">
          <VisibleText text={member.email} />
          {!member.hasPassword && " · single sign-on"}
          {member.hasFactor && " · second factor"}
        </p>
      </div>
      <p className="text-quiet">
        {member.lastLoginAt ? (
          <>
            logged in <Age at={member.lastLoginAt} />
          </>
        ) : (
          "never logged in"
        )}
      </p>
      <div className="flex flex-wrap items-center gap-2">
        <select
          aria-label={`Role of ${member.email}`}
          value={change.isPending ? change.variables : member.role}
          disabled={change.isPending}
          onChange={(event) => change.mutate(event.target.value as MemberRole)}
        >
          {roleOptions.map(({ value }) => (
            <option key={value} value={value}>
              {value.charAt(0).toUpperCase() + value.slice(1)}
            </option>
          ))}
        </select>
        <Button look="danger" onClick={onRemove} aria-label={`Remove ${member.email}`}>
          Remove
        </Button>
      </div>
      {change.error && (
        <div className="md:col-span-3">
          <Problem error={change.error} />
        </div>
      )}
    </li>
  );
}
