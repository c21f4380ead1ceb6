import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { auditQuery } from "../../api/account-queries.ts";
import { apiUrl } from "../../api/request.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { SelectInput, TextInput } from "../../parts/inputs.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Sheet } from "../../parts/sheet.tsx";
import { AuditRow } from "./audit-row.tsx";

const kinds = [
  { value: "", words: "Everything" },
  { value: "key", words: "Keys" },
  { value: "project", words: "Projects" },
  { value: "member", words: "Members" },
  { value: "invitation", words: "Invitations" },
  { value: "setting", words: "Settings" },
  { value: "webhook", words: "Webhooks" },
  { value: "automation", words: "Automations" },
  { value: "context", words: "Context repositories" },
  { value: "model_key", words: "Model keys" },
  { value: "pull_request", words: "Pull requests" },
  { value: "login", words: "Logins" },
  { value: "login.failed", words: "Failed logins" },
  { value: "sessions", words: "Sessions ended" },
  { value: "login_link", words: "Login links" },
  { value: "password_link", words: "Password reset links" },
] as const;

/** Who changed what, when and from where; the filter is in the address. */
export function AuditLog() {
  const { actor, action } = useSearch({ from: "/settings" });
  const filter = { ...(actor && { actor }), ...(action && { action }) };
  const navigate = useNavigate();
  const show = (next: { actor?: string; action?: string }) =>
    navigate({ to: "/settings", search: { tab: "audit", ...next }, replace: true });
  const log = useInfiniteQuery(auditQuery(filter));
  const entries = log.data?.pages.flatMap((page) => page.entries);

  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex flex-wrap items-end gap-3">
        <div className="w-full sm:w-44">
          <SelectInput
            label="What"
            value={kinds.find(({ value }) => value === action)?.value ?? ""}
            onValue={(value) => show({ ...(actor && { actor }), ...(value && { action: value }) })}
            options={kinds}
          />
        </div>
        <ByActor
          key={actor}
          actor={actor ?? ""}
          onActor={(next) => show({ ...(action && { action }), ...(next && { actor: next }) })}
        />
        <a
          className={`${buttonLook("ordinary")} ml-auto`}
          href={`${apiUrl("/audit.csv")}?${new URLSearchParams(filter)}`}
          download
        >
          Download CSV
        </a>
      </div>
      {entries ? (
        <Sheet>
          {entries.length === 0 && (
            <Empty>
              <p>No matching entries.</p>
              {(actor || action) && <Button onClick={() => show({})}>Show all</Button>}
            </Empty>
          )}
          <ul className="divide-y divide-line">
            {entries.map((entry) => (
              <AuditRow
                key={entry.id}
                entry={entry}
                onActor={(name) => show({ ...(action && { action }), actor: name })}
              />
            ))}
          </ul>
        </Sheet>
      ) : (
        <Pending error={log.error} />
      )}
      {log.hasNextPage && (
        <Button className="justify-self-center" disabled={log.isFetchingNextPage} onClick={() => log.fetchNextPage()}>
          Earlier
        </Button>
      )}
    </div>
  );
}

function ByActor({ actor, onActor }: { actor: string; onActor(actor: string): void }) {
  const [text, setText] = useState(actor);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onActor(text.trim());
  };
  return (
    <form onSubmit={submit} className="min-w-0 flex-1 basis-56 sm:max-w-72">
      <TextInput
        label="Who"
        placeholder="Email address, or console"
        type="search"
        value={text}
        onText={setText}
        onBlur={() => text.trim() !== actor && onActor(text.trim())}
      />
    </form>
  );
}
