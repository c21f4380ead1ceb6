import type { DashboardSession } from "@emend/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ownSessionsQuery } from "../../api/account-queries.ts";
import { sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Form } from "../../parts/form.tsx";
import { TextInput } from "../../parts/inputs.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { VisibleText } from "../../parts/visible-text.tsx";
import { roleWords } from "../members/role-words.ts";
import { OwnSessions } from "./own-sessions.tsx";

export function Account({ session }: { session: DashboardSession }) {
  return (
    <div className="grid max-w-[640px] grid-cols-[minmax(0,1fr)] gap-6">
      <section className="grid gap-2">
        <h2>You</h2>
        <Sheet className="p-4">
          <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-6 gap-y-1">
            <dt className="text-quiet">Logged in as</dt>
            <dd className="wrap-anywhere">
              <VisibleText text={session.name ?? "the console"} />
            </dd>
            {session.name !== null && (
              <>
                <dt className="text-quiet">Email address</dt>
                <dd className="wrap-anywhere">
                  <VisibleText text={session.subject} />
                </dd>
              </>
            )}
            <dt className="text-quiet">Role</dt>
            <dd>
              {session.role}, {roleWords[session.role]}
            </dd>
          </dl>
        </Sheet>
      </section>
      {session.name === null ? (
        <p className="text-quiet">
          You logged in with a login link. This session ends after seven days. The audit log shows its actions as
          console.
        </p>
      ) : (
        <section className="grid gap-2">
          <h2>Password</h2>
          <Sheet className="p-4">
            <ChangePassword hasPassword={session.hasPassword} />
          </Sheet>
        </section>
      )}
      <OwnSessions />
    </div>
  );
}

function ChangePassword({ hasPassword }: { hasPassword: boolean }) {
  const queries = useQueryClient();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useMutation({
    mutationFn: () => request("/password", { body: { current: hasPassword ? current : null, next } }),
    async onSuccess() {
      setCurrent("");
      setNext("");
      await Promise.all(
        [sessionQuery, ownSessionsQuery].map(({ queryKey }) => queries.invalidateQueries({ queryKey })),
      );
    },
  });
  return (
    <Form
      action={change}
      submit={hasPassword ? "Change password" : "Set password"}
      {...(change.isSuccess && { note: "Password changed. Your other sessions were ended." })}
    >
      {hasPassword && (
        <TextInput
          label="Current password"
          type="password"
          required
          autoComplete="current-password"
          value={current}
          onText={setCurrent}
        />
      )}
      <TextInput
        label="New password"
        type="password"
        required
        autoComplete="new-password"
        help="At least 12 characters. This ends all your other sessions."
        value={next}
        onText={setNext}
      />
    </Form>
  );
}
