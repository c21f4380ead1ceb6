import type { DashboardDirectory, MemberRole } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { directoryQuery } from "../../api/account-queries.ts";
import { request } from "../../api/request.ts";
import { Button, CopyBlock } from "../../parts/button.tsx";
import { Confirm, Dialog, ResultDialog, Sheet } from "../../parts/dialog.tsx";
import { Form, SelectInput, TextInput } from "../../parts/form.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { roleOptions } from "../members/role-words.ts";

type Token = DashboardDirectory["tokens"][number];
type Waiting = DashboardDirectory["waiting"][number];
type Open = { kind: "create" } | { kind: "revoke"; token: Token } | { kind: "connect"; person: Waiting };

/** The directory of an identity provider (SCIM): its tokens, and which group gives which role. */
export function Directory() {
  const queries = useQueryClient();
  const { data, error } = useQuery(directoryQuery);
  const [open, setOpen] = useState<Open | null>(null);
  if (!data) return <Pending error={error} />;
  const close = () => setOpen(null);
  return (
    <div className="grid max-w-[640px] grid-cols-[minmax(0,1fr)] gap-6">
      <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <h2>Tokens</h2>
          <Button look="primary" onClick={() => setOpen({ kind: "create" })}>
            Create token
          </Button>
        </div>
        <Sheet>
          {data.tokens.length === 0 ? (
            <Empty>
              <p>With a token, your identity provider adds people to Emend and ends their access (SCIM 2.0).</p>
              <p>Create one, and give it to the provider with this URL:</p>
              <CopyBlock text={data.url} />
            </Empty>
          ) : (
            <>
              <div className="p-4">
                <CopyBlock text={data.url} />
              </div>
              <ul className="divide-y divide-line border-t border-line">
                {data.tokens.map((token) => (
                  <TokenRow key={token.id} token={token} onRevoke={() => setOpen({ kind: "revoke", token })} />
                ))}
              </ul>
            </>
          )}
        </Sheet>
        {data.people > 0 && (
          <p className="text-quiet">
            {data.people === 1 ? "1 person" : `${data.people} people`} in the directory, {data.members} with access.
          </p>
        )}
      </section>
      {data.waiting.length > 0 && (
        <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
          <h2>Members to connect</h2>
          <Sheet>
            <p className="p-4">
              The directory has people with the email address of a member that it did not create. Connect a member to
              let the directory change their name and role, and end their access.
            </p>
            <ul className="divide-y divide-line border-t border-line">
              {data.waiting.map((person) => (
                <li key={person.id} className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-2.5">
                  <p className="min-w-0 flex-1 basis-48 truncate font-medium">
                    <VisibleText text={person.email} />
                  </p>
                  <span className="text-quiet">{person.role}</span>
                  <Button
                    onClick={() => setOpen({ kind: "connect", person })}
                    aria-label={`Connect the member ${person.email}`}
                  >
                    Connect
                  </Button>
                </li>
              ))}
            </ul>
          </Sheet>
        </section>
      )}
      <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
        <h2>Roles</h2>
        <Sheet className="p-4">
          <Roles directory={data} />
        </Sheet>
      </section>
      {open?.kind === "create" && <CreateToken url={data.url} onClose={close} />}
      {open?.kind === "connect" && (
        <Confirm
          title="Connect this member?"
          submit="Connect"
          onConfirm={async () => {
            const { id, email } = open.person;
            queries.setQueryData(
              directoryQuery.queryKey,
              await request<DashboardDirectory>(`/directory/people/${id}/connect`, { body: { email } }),
            );
          }}
          onClose={close}
        >
          <p className="wrap-anywhere">
            The directory can then change the name and role of{" "}
            <b>
              <VisibleText text={open.person.email} />
            </b>
            , and end their access.
          </p>
        </Confirm>
      )}
      {open?.kind === "revoke" && (
        <Confirm
          title="Revoke this token?"
          submit="Revoke"
          onConfirm={async () => {
            await request(`/directory/tokens/${open.token.id}/revoke`, { body: {} });
            await queries.invalidateQueries({ queryKey: directoryQuery.queryKey });
          }}
          onClose={close}
        >
          <p className="wrap-anywhere">
            <b>
              <VisibleText text={open.token.name} />
            </b>{" "}
            can no longer add people or end their access. Its people keep their access.
          </p>
        </Confirm>
      )}
    </div>
  );
}

function TokenRow({ token, onRevoke }: { token: Token; onRevoke(): void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-48">
        <p className="truncate font-medium">
          <VisibleText text={token.name} />
        </p>
        <p className="truncate text-quiet">
          <code>{token.hint}…</code> by <VisibleText text={token.createdBy} />
        </p>
      </div>
      <span className="text-quiet">
        {token.lastUsedAt ? (
          <>
            used <Age at={token.lastUsedAt} />
          </>
        ) : (
          "never used"
        )}
      </span>
      <Button look="danger" onClick={onRevoke} aria-label={`Revoke the token ${token.name}`}>
        Revoke
      </Button>
    </li>
  );
}

/** Shows the token once. */
function CreateToken({ url, onClose }: { url: string; onClose(): void }) {
  const queries = useQueryClient();
  const [name, setName] = useState("");
  const create = useMutation({
    mutationFn: () => request<{ token: string }>("/directory/tokens", { body: { name } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: directoryQuery.queryKey }),
  });
  if (create.data) {
    return (
      <ResultDialog title="Your new token" onClose={onClose}>
        <p>Copy it now. You won't see it again.</p>
        <CopyBlock text={create.data.token} />
        <p>The URL for your identity provider:</p>
        <CopyBlock text={url} />
      </ResultDialog>
    );
  }
  return (
    <Dialog title="Create token" onClose={onClose}>
      <Form action={create} submit="Create token" onCancel={onClose}>
        <TextInput
          label="Name"
          help="Your identity provider, such as Okta."
          required
          autoFocus
          maxLength={200}
          value={name}
          onText={setName}
        />
      </Form>
    </Dialog>
  );
}

type RoleChoice = MemberRole | "none";
const toChoice = (role: MemberRole | null): RoleChoice => role ?? "none";

function Roles({ directory }: { directory: DashboardDirectory }) {
  const queries = useQueryClient();
  const [defaultRole, setDefaultRole] = useState(toChoice(directory.defaultRole));
  const [roles, setRoles] = useState(() => choicesOf(directory));
  const [name, setName] = useState("");
  const save = useMutation({
    mutationFn: () => {
      const groups = roles.flatMap((group) => (group.role === "none" ? [] : [{ name: group.name, role: group.role }]));
      const body = { defaultRole: defaultRole === "none" ? null : defaultRole, groups };
      return request<DashboardDirectory>("/directory", { method: "PATCH", body });
    },
    onSuccess: (stored) => queries.setQueryData(directoryQuery.queryKey, stored),
  });
  const isKnown = roles.some((group) => group.name.toLowerCase() === name.trim().toLowerCase());
  return (
    <Form action={save} submit="Save roles" {...(save.isSuccess && { note: "Saved." })}>
      <SelectInput
        label="People whose groups have no role"
        value={defaultRole}
        onValue={setDefaultRole}
        options={[{ value: "none", words: "No access" }, ...roleOptions]}
      />
      {roles.map((group) => (
        <SelectInput
          key={group.name}
          label={`Group ${group.name}`}
          value={group.role}
          onValue={(role) => setRoles(roles.map((each) => (each === group ? { ...each, role } : each)))}
          options={[{ value: "none", words: "No role" }, ...roleOptions]}
        />
      ))}
      <div className="grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2">
        <TextInput label="Another group" maxLength={200} value={name} onText={setName} />
        <Button
          disabled={name.trim() === "" || isKnown}
          onClick={() => {
            setRoles([...roles, { name: name.trim(), role: "viewer" }]);
            setName("");
          }}
        >
          Add group
        </Button>
      </div>
    </Form>
  );
}

/** Groups that have a role, then those that the provider has sent. */
function choicesOf({ groups, groupNames }: DashboardDirectory): { name: string; role: RoleChoice }[] {
  const named = new Set(groups.map(({ name }) => name.toLowerCase()));
  const others = groupNames.filter((name) => !named.has(name.toLowerCase()));
  return [...groups, ...others.map((name) => ({ name, role: "none" as const }))];
}
