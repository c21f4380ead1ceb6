import type { DashboardOwnSessions, DashboardSession } from "@emend/contract";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ownSessionsQuery } from "../../api/account-queries.ts";
import { sessionQuery } from "../../api/queries.ts";
import { request } from "../../api/request.ts";
import { Button } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { Form, TextInput } from "../../parts/form.tsx";
import { Pending, Problem } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";
import { roleWords } from "../members/role-words.ts";
import { Factors } from "./factors.tsx";

const permissionWords = {
  granted: "On. Your browser tells you when a job that you started ends while you look elsewhere.",
  denied: "Off. Your browser refuses notifications from this page; allow them in its settings.",
  default: "Off. Emend can tell you by your browser when a job that you started ends.",
} as const;

/** By the browser and by email. On its pages Emend tells in any case. */
function Notifications({ emailsJobs }: Pick<DashboardSession, "emailsJobs">) {
  const isKnown = "Notification" in window;
  const [permission, setPermission] = useState(isKnown ? Notification.permission : "denied");
  return (
    <section className="grid gap-2">
      <h2>Notifications</h2>
      <Sheet className="divide-y divide-line">
        <div className="flex flex-wrap items-center justify-between gap-3 p-4">
          <p className="min-w-0 flex-1 basis-60">{permissionWords[permission]}</p>
          {permission === "default" && (
            <Button onClick={async () => setPermission(await Notification.requestPermission())}>Turn on</Button>
          )}
        </div>
        {emailsJobs !== null && <EmailNotifications isOn={emailsJobs} />}
      </Sheet>
    </section>
  );
}

function EmailNotifications({ isOn }: { isOn: boolean }) {
  const queries = useQueryClient();
  const turn = useMutation({
    mutationFn: () => request("/notifications", { body: { emailsJobs: !isOn } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 p-4">
      <p className="min-w-0 flex-1 basis-60">
        {isOn
          ? "On. Emend sends you an email when a job that you started ends or asks something, and when you are asked for a review."
          : "Off. Emend can send you an email when a job that you started ends or asks something, and when you are asked for a review."}
      </p>
      <Button disabled={turn.isPending} onClick={() => turn.mutate()}>
        {isOn ? "Turn off email" : "Turn on email"}
      </Button>
      <Problem error={turn.error} />
    </div>
  );
}

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
      <Notifications emailsJobs={session.emailsJobs} />
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
      {session.name !== null && <Factors hasPassword={session.hasPassword} />}
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

/** The person's sessions, and logging out all others. */
function OwnSessions() {
  const queries = useQueryClient();
  const { data, error } = useQuery(ownSessionsQuery);
  const end = useMutation({
    mutationFn: () => request<{ ended: number }>("/sessions/end-others", { body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ownSessionsQuery.queryKey }),
  });
  if (!data) return <Pending error={error} />;
  const hasOthers = data.sessions.some(({ isThis }) => !isThis);
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <h2>Sessions</h2>
      <Sheet>
        <ul className="divide-y divide-line">
          {data.sessions.map((session) => (
            <SessionRow key={session.startedAt} session={session} />
          ))}
        </ul>
      </Sheet>
      <Problem error={end.error} />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <span className="text-quiet" aria-live="polite">
          {hasOthers ? "" : end.isSuccess ? "Other sessions ended." : "You have no other sessions."}
        </span>
        {hasOthers && (
          <Button look="danger" disabled={end.isPending} onClick={() => end.mutate()}>
            End other sessions
          </Button>
        )}
      </div>
    </section>
  );
}

function SessionRow({ session }: { session: DashboardOwnSessions["sessions"][number] }) {
  return (
    <li className="px-4 py-2">
      <p className="font-medium">{session.isThis ? "This browser" : "Another browser"}</p>
      <p className="wrap-anywhere text-quiet">
        logged in{session.by && ` by ${session.by}`} <Age at={session.startedAt} />
        {session.address && ` from ${session.address}`}
      </p>
    </li>
  );
}
