import type { DashboardFactors, DashboardRecoveryCodes } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { factorsQuery, ownSessionsQuery } from "../../api/account-queries.ts";
import { askPasskey, hasPasskeys } from "../../api/passkeys.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm, Dialog, ResultDialog, Sheet } from "../../parts/dialog.tsx";
import { AppForm, PasskeyForm, PasskeyName } from "../../parts/factor-forms.tsx";
import { CodeInput, Form, TextInput } from "../../parts/form.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { showRecoveryCodes } from "../../parts/recovery-codes.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";

type Passkey = DashboardFactors["passkeys"][number];
type Change = "set up" | "remove" | "new codes" | "add passkey" | { remove: Passkey };

/** The person's second factors. Each change asks who it is, unless the person has just said it. */
export function Factors({ hasPassword }: { hasPassword: boolean }) {
  const queries = useQueryClient();
  const { data, error } = useQuery(factorsQuery);
  const [change, setChange] = useState<Change | null>(null);
  if (!data) return <Pending error={error} />;

  const hasFactor = data.appSince !== null || data.passkeys.length > 0;
  const close = () => setChange(null);
  async function finish(result: Partial<DashboardRecoveryCodes>) {
    close();
    showRecoveryCodes(queries, result.recoveryCodes ?? null);
    await Promise.all([factorsQuery, ownSessionsQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey })));
  }
  const post = async (path: string) => finish(await request<Partial<DashboardRecoveryCodes>>(path, { body: {} }));

  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2>Second factor</h2>
      <Sheet className="divide-y divide-line">
        <AppRow since={data.appSince} onChange={setChange} />
        <PasskeysRow factors={data} onChange={setChange} />
        {hasFactor && <CodesRow left={data.recoveryCodesLeft} onChange={setChange} />}
      </Sheet>
      {change !== null && !data.isFresh && <ProveAgain factors={data} hasPassword={hasPassword} onClose={close} />}
      {change === "set up" && data.isFresh && (
        <Dialog title="Set up an authenticator app" onClose={close}>
          <AppForm token={null} submit="Turn on" onDone={finish} onCancel={close} />
        </Dialog>
      )}
      {change === "remove" && data.isFresh && (
        <Confirm
          title="Remove the authenticator app?"
          submit="Remove"
          onConfirm={() => post("/factors/authenticator-app/remove")}
          onClose={close}
        >
          <p>{afterRemoval(data.passkeys.length)}</p>
        </Confirm>
      )}
      {change === "add passkey" && data.isFresh && (
        <Dialog title="Add a passkey" onClose={close}>
          <PasskeyForm token={null} onDone={finish} onCancel={close} />
        </Dialog>
      )}
      {change !== null && typeof change === "object" && data.isFresh && (
        <Confirm
          title={`Remove the passkey ${change.remove.name}?`}
          submit="Remove"
          onConfirm={() => post(`/factors/passkeys/${change.remove.id}/remove`)}
          onClose={close}
        >
          <p>{afterRemoval(data.passkeys.length - 1 + (data.appSince === null ? 0 : 1))}</p>
        </Confirm>
      )}
      {change === "new codes" && data.isFresh && (
        <Confirm
          title="Create new recovery codes?"
          submit="Create codes"
          look="primary"
          onConfirm={() => post("/factors/recovery-codes")}
          onClose={close}
        >
          <p>The codes that you have now stop working, and your other sessions end.</p>
        </Confirm>
      )}
    </section>
  );
}

/** `left`: how many factors there are then. */
function afterRemoval(left: number): string {
  if (left > 0) return "Your other sessions end.";
  return "Your password alone logs you in then. Your recovery codes stop working, and your other sessions end.";
}

function Row({ title, children, actions }: { title: string; children: ReactNode; actions: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 p-4">
      <div className="min-w-0 flex-1 basis-60">
        <p className="font-medium">{title}</p>
        <p className="text-quiet">{children}</p>
      </div>
      <div className="flex flex-wrap gap-2">{actions}</div>
    </div>
  );
}

function AppRow({ since, onChange }: { since: string | null; onChange(change: Change): void }) {
  const actions = (
    <>
      <Button onClick={() => onChange("set up")}>{since === null ? "Set up" : "Replace"}</Button>
      {since !== null && (
        <Button look="danger" onClick={() => onChange("remove")}>
          Remove
        </Button>
      )}
    </>
  );
  return (
    <Row title="Authenticator app" actions={actions}>
      {since === null ? (
        "Off. An app on your phone shows a code, which Emend asks for after your password."
      ) : (
        <>
          On. Set up <Age at={since} />.
        </>
      )}
    </Row>
  );
}

function PasskeysRow({ factors, onChange }: { factors: DashboardFactors; onChange(change: Change): void }) {
  const { passkeys, allowsPasskeys } = factors;
  const isPossible = allowsPasskeys && hasPasskeys;
  return (
    <div>
      <Row
        title="Passkeys"
        actions={isPossible && <Button onClick={() => onChange("add passkey")}>Add passkey</Button>}
      >
        {isPossible
          ? "Log in with your fingerprint, face, PIN or security key instead of a password."
          : "Not available here: passkeys need a domain name and https."}
      </Row>
      {passkeys.length > 0 && (
        <ul aria-label="Passkeys" className="grid gap-3 px-4 pb-4">
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onRemove={() => onChange({ remove: passkey })} />
          ))}
        </ul>
      )}
    </div>
  );
}

function PasskeyRow({ passkey, onRemove }: { passkey: Passkey; onRemove(): void }) {
  const [isRenaming, setIsRenaming] = useState(false);
  return (
    <li className="flex flex-wrap items-center justify-between gap-3 border-l-2 border-line pl-3">
      <div className="min-w-0 flex-1 basis-48">
        <p className="wrap-anywhere">
          <VisibleText text={passkey.name} />
        </p>
        <p className="text-quiet">
          added <Age at={passkey.createdAt} />
          {passkey.lastUsedAt && (
            <>
              , used <Age at={passkey.lastUsedAt} />
            </>
          )}
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button aria-label={`Rename ${passkey.name}`} onClick={() => setIsRenaming(true)}>
          Rename
        </Button>
        <Button look="danger" aria-label={`Remove ${passkey.name}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
      {isRenaming && <RenamePasskey passkey={passkey} onClose={() => setIsRenaming(false)} />}
    </li>
  );
}

function RenamePasskey({ passkey, onClose }: { passkey: Passkey; onClose(): void }) {
  const queries = useQueryClient();
  const [name, setName] = useState(passkey.name);
  const rename = useMutation({
    mutationFn: () => request(`/factors/passkeys/${passkey.id}/rename`, { body: { name } }),
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: factorsQuery.queryKey });
      onClose();
    },
  });
  return (
    <Dialog title="Rename the passkey" onClose={onClose}>
      <Form action={rename} submit="Rename" onCancel={onClose}>
        <PasskeyName value={name} onText={setName} />
      </Form>
    </Dialog>
  );
}

function CodesRow({ left, onChange }: { left: number; onChange(change: Change): void }) {
  return (
    <Row title="Recovery codes" actions={<Button onClick={() => onChange("new codes")}>Create new codes</Button>}>
      {left === 0 ? "None left." : `${left} left.`} Each logs you in once if you lose your phone.
    </Row>
  );
}

function ProveAgain(props: { factors: DashboardFactors; hasPassword: boolean; onClose(): void }) {
  const queries = useQueryClient();
  const { appSince, passkeys } = props.factors;
  const hasCode = appSince !== null || !props.hasPassword;
  const [text, setText] = useState("");
  const refresh = () => queries.invalidateQueries({ queryKey: factorsQuery.queryKey });
  const prove = useMutation({
    mutationFn: () => request("/factors/prove", { body: hasCode ? { code: text } : { password: text } }),
    onSuccess: refresh,
  });
  const byPasskey = useMutation({
    mutationFn: async () => {
      const answer = await askPasskey("/factors/prove/passkey/begin");
      return request("/factors/prove/passkey", { body: { answer } });
    },
    onSuccess: refresh,
  });
  if (appSince === null && passkeys.length === 0 && !props.hasPassword) {
    return (
      <ResultDialog title="Log in again first" onClose={props.onClose}>
        <p>A second factor can be changed for ten minutes after a login. Log out, and log in again.</p>
      </ResultDialog>
    );
  }
  return (
    <Dialog title="Confirm that it is you" onClose={props.onClose}>
      {passkeys.length > 0 && hasPasskeys && (
        <>
          <Button disabled={byPasskey.isPending} onClick={() => byPasskey.mutate()}>
            Use a passkey
          </Button>
          <Problem error={byPasskey.error} />
        </>
      )}
      <Form action={prove} submit="Continue" onCancel={props.onClose}>
        {hasCode ? (
          <CodeInput
            label={appSince === null ? "Recovery code" : "Code"}
            value={text}
            onText={setText}
            help={
              appSince === null ? "One of your recovery codes." : "From your authenticator app, or a recovery code."
            }
          />
        ) : (
          <TextInput
            label="Password"
            type="password"
            required
            autoFocus
            autoComplete="current-password"
            value={text}
            onText={setText}
          />
        )}
      </Form>
    </Dialog>
  );
}
