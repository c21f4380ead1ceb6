import type { DashboardAuditEntry } from "@emend/contract";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { auditQuery } from "../../api/account-queries.ts";
import { apiUrl } from "../../api/request.ts";
import { rowAttribute } from "../../layout/use-shortcuts.ts";
import { Button, buttonLook } from "../../parts/button.tsx";
import { Sheet } from "../../parts/dialog.tsx";
import { SelectInput, TextInput } from "../../parts/form.tsx";
import { Empty, Pending } from "../../parts/notice.tsx";
import { Age, VisibleText } from "../../parts/text.tsx";

const kinds = [
  { value: "", words: "Everything" },
  { value: "key", words: "Keys" },
  { value: "project", words: "Projects" },
  { value: "member", words: "Members" },
  { value: "invitation", words: "Invitations" },
  { value: "setting", words: "Settings" },
  { value: "webhook", words: "Webhooks" },
  { value: "automation", words: "Automations" },
  { value: "context", words: "Repositories of code" },
  { value: "model_key", words: "Model keys" },
  { value: "pull_request", words: "Pull requests" },
  { value: "login", words: "Logins" },
  { value: "login.failed", words: "Failed logins" },
  { value: "sessions", words: "Sessions ended" },
  { value: "login_link", words: "Login links" },
  { value: "factor", words: "Second factors" },
  { value: "password_link", words: "Password reset links" },
] as const;

/** Who changed what, when and from where. The filter is in the URL. */
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

function AuditRow({ entry, onActor }: { entry: DashboardAuditEntry; onActor(actor: string): void }) {
  const { words, about } = describeAudit(entry);
  return (
    <li
      {...rowAttribute}
      tabIndex={-1}
      className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-6 gap-y-0.5 px-4 py-2 -outline-offset-2 md:grid-cols-[minmax(0,1fr)_minmax(0,18rem)_6rem]"
    >
      <p className="col-span-2 min-w-0 wrap-anywhere md:col-span-1">
        {words}
        {about && (
          <>
            {" "}
            <span className="font-medium">
              <VisibleText text={about} />
            </span>
          </>
        )}
      </p>
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-3 self-start text-quiet">
        <button type="button" className="max-w-full truncate hover:text-ink" onClick={() => onActor(entry.actor)}>
          <VisibleText text={entry.actor} />
        </button>
        {entry.address && <span className="font-mono text-[12px] wrap-anywhere">{entry.address}</span>}
      </p>
      <p className="text-right text-quiet">
        <Age at={entry.at} />
      </p>
    </li>
  );
}

const actions: Readonly<Record<string, string>> = {
  "key.created": "Created the key",
  "key.changed": "Changed the key",
  "key.revoked": "Revoked the key",
  "construct.allowed": "Allowed on a site from now on:",
  "construct.removed": "Asks again about:",
  "directory_token.created": "Created the directory token",
  "directory_token.revoked": "Revoked the directory token",
  "project.added": "Added the project",
  "project.changed": "Changed the project",
  "project.removed": "Removed the project",
  "member.added": "Joined:",
  "member.removed": "Removed the member",
  "member.role": "Changed the role of",
  "member.password": "Set the password of",
  "member.identity": "Linked to single sign-on:",
  "invitation.created": "Invited",
  "invitation.revoked": "Revoked the invitation of",
  "password_link.created": "Created a password reset link for",
  "factor.added": "Added a second factor of",
  "factor.renamed": "Renamed a passkey of",
  "factor.removed": "Removed a second factor of",
  "factor.codes_created": "Created recovery codes of",
  "factor.code_used": "Used a recovery code of",
  "login_link.created": "Created a login link",
  login: "Logged in",
  "sessions.ended": "Ended other sessions:",
  "login.failed": "Failed to log in",
  "setting.changed": "Changed the setting",
  "webhook.added": "Added a webhook to",
  "webhook.removed": "Removed the webhook to",
  "webhook.rotated": "Changed the secret of the webhook to",
  "webhook.enabled": "Enabled the webhook to",
  "webhook.disabled": "Disabled the webhook to",
  "model_key.set": "Set a model key for",
  "model_key.removed": "Removed the model key for",
  "context.added": "Added the repository of code",
  "context.removed": "Removed the repository of code",
  "knowledge.added": "Added the knowledge server",
  "knowledge.removed": "Removed the knowledge server",
  "knowledge.allowed": "Allowed a tool of the knowledge server",
  "knowledge.denied": "Denied a tool of the knowledge server",
  "knowledge.called": "A job asked the knowledge server",
  "automation.added": "Added the automation",
  "automation.changed": "Changed the automation",
  "automation.removed": "Removed the automation",
  "automation.paused": "Paused the automation",
  "automation.resumed": "Resumed the automation",
  "pull_request.merged": "Merged pull request",
  "pull_request.closed": "Closed pull request",
  "pull_request.edited": "Edited pull request",
  "pull_request.suggestion": "Applied a suggestion on pull request",
  "pull_request.asked": "Asked Emend to address comments on pull request",
  "pull_request.proposed": "Edited a page as pull request",
  "pull_request.approved": "Approved pull request",
  "pull_request.changes_requested": "Requested changes on pull request",
  "pull_request.review_requested": "Requested a review of pull request",
  "pull_request.review_removed": "Removed a review from pull request",
};

const settings: Readonly<Record<string, string>> = {
  archiveAfterDays: "archive finished jobs after days",
  deleteAfterDays: "delete ended jobs after days",
  deleteContentsAfterDays: "delete what jobs worked with after days",
  deleteHistoryAfterDays: "delete history after days",
  deleteLogsAfterDays: "delete logs after days",
  deleteCopiesAfterDays: "delete unused copies of repositories after days",
  monthlyBudget: "monthly budget",
  secondFactorRequired: "require a second factor",
  directory: "roles of the directory's groups",
};

/** One readable line: the action and its target. */
function describeAudit({ action, target, details }: Pick<DashboardAuditEntry, "action" | "target" | "details">): {
  words: string;
  about: string;
} {
  return { words: actions[action] ?? action, about: aboutOf(action, target, details) };
}

function aboutOf(action: string, target: string | null, details: Readonly<Record<string, unknown>>): string {
  const text = (name: string) => (typeof details[name] === "string" ? details[name] : "");
  switch (action) {
    case "login":
      return details.by === undefined ? "" : `by ${text("by")}`;
    case "login.failed":
    case "login_link.created":
      return "";
    case "sessions.ended":
      return details.ended === 1 ? "1 browser" : `${details.ended} browsers`;
    case "member.role":
      return `${text("email")}: ${text("from")} → ${text("to")}`;
    case "member.added":
    case "invitation.created":
      return `${text("email")}, ${text("role")}`;
    case "project.changed":
      return `${text("name")}: ${Array.isArray(details.changed) ? details.changed.join(", ") : ""}`;
    case "setting.changed":
      return `${settings[target ?? ""] ?? target}: ${"to" in details ? (JSON.stringify(details.to) ?? "") : "as the environment says"}`;
    case "construct.allowed":
    case "construct.removed":
      return text("construct");
    case "pull_request.merged":
    case "pull_request.closed":
      return `#${details.number} ${text("title")}`;
    case "pull_request.edited":
    case "pull_request.suggestion":
    case "pull_request.asked":
    case "pull_request.proposed":
    case "pull_request.approved":
    case "pull_request.changes_requested":
      return `#${details.number} ${text("path")}`.trim();
    case "pull_request.review_requested":
    case "pull_request.review_removed":
      return `#${details.number} ${text("reviewer")}`;
    default:
      return text("name") || text("email") || text("host") || text("vendor") || (target ?? "");
  }
}
