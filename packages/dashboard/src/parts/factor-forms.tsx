import type { DashboardRecoveryCodes } from "@emend/contract";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { appSetupQuery } from "../api/account-queries.ts";
import { createPasskey } from "../api/passkeys.ts";
import { request } from "../api/request.ts";
import { CopyButton } from "./button.tsx";
import { CodeInput, Form, TextInput } from "./form.tsx";
import { Pending } from "./notice.tsx";
import { QrCode } from "./qr-code.tsx";

interface FactorFormProps {
  /** Of a login that waits for its first factor. Null: in a session. */
  token: string | null;
  onDone(result: DashboardRecoveryCodes): Promise<void>;
  onCancel(): void;
}

const endsSessions = "This ends your other sessions.";

/** Sets up an authenticator app. */
export function AppForm({ token, submit, onDone, onCancel }: FactorFormProps & { submit: string }) {
  const { data, error } = useQuery(appSetupQuery(token));
  const [code, setCode] = useState("");
  const confirm = useMutation({
    mutationFn: () => {
      const typed = { setup: data?.setup, code };
      return token === null
        ? request<DashboardRecoveryCodes>("/factors/authenticator-app/confirm", { body: typed })
        : request<DashboardRecoveryCodes>("/auth/set-up/authenticator-app", { body: { token, ...typed } });
    },
    onSuccess: onDone,
  });
  if (!data) return <Pending error={error} />;
  return (
    <Form action={confirm} submit={submit} onCancel={onCancel}>
      <p>Scan this code with your authenticator app, such as the one of your phone or your password manager.</p>
      <QrCode text={data.uri} label="QR code for your authenticator app" />
      <div className="grid gap-1">
        <p className="text-quiet">Or type this key into the app:</p>
        <div className="flex flex-wrap items-center gap-2">
          <code className="rounded-md bg-hush px-3 py-2 wrap-anywhere">
            {data.key.replaceAll(/(.{4})(?!$)/g, "$1 ")}
          </code>
          <CopyButton text={data.key} label="Copy key" />
        </div>
      </div>
      <CodeInput
        value={code}
        onText={setCode}
        help={`The six digits that the app shows now. ${token === null ? endsSessions : ""}`}
      />
    </Form>
  );
}

/** Adds a passkey. */
export function PasskeyForm({ token, onDone, onCancel }: FactorFormProps) {
  const [name, setName] = useState("");
  const add = useMutation({
    mutationFn: async () => {
      if (token === null) {
        const answer = await createPasskey("/factors/passkeys/begin");
        return request<DashboardRecoveryCodes>("/factors/passkeys", { body: { name, answer } });
      }
      const answer = await createPasskey("/auth/set-up/passkey/begin", { token });
      return request<DashboardRecoveryCodes>("/auth/set-up/passkey", { body: { token, name, answer } });
    },
    onSuccess: onDone,
  });
  return (
    <Form action={add} submit="Continue" onCancel={onCancel}>
      <p>Your browser then asks where to keep the passkey. {token === null && endsSessions}</p>
      <PasskeyName value={name} onText={setName} />
    </Form>
  );
}

export function PasskeyName(props: { value: string; onText(text: string): void }) {
  return (
    <TextInput
      label="Name"
      required
      autoFocus
      maxLength={200}
      placeholder="Work laptop"
      help="Only you see it."
      {...props}
    />
  );
}
