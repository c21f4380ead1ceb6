import type { DashboardAuditEntry } from "@emend/contract";

const actions: Readonly<Record<string, string>> = {
  "key.created": "Created the key",
  "key.changed": "Changed the key",
  "key.revoked": "Revoked the key",
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
  "login_link.created": "Created a login link",
  login: "Logged in",
  "sessions.ended": "Ended other sessions:",
  "login.failed": "Failed to log in",
  "setting.changed": "Changed the setting",
  "webhook.added": "Added a webhook to",
  "webhook.removed": "Removed the webhook to",
  "webhook.enabled": "Enabled the webhook to",
  "webhook.disabled": "Disabled the webhook to",
  "model_key.set": "Set a model key for",
  "model_key.removed": "Removed the model key for",
  "context.added": "Added the context repository",
  "context.removed": "Removed the context repository",
  "automation.added": "Added the automation",
  "automation.changed": "Changed the automation",
  "automation.removed": "Removed the automation",
  "automation.paused": "Paused the automation",
  "automation.resumed": "Resumed the automation",
  "pull_request.merged": "Merged pull request",
  "pull_request.closed": "Closed pull request",
};

const settings: Readonly<Record<string, string>> = { archiveAfterDays: "archive finished jobs after days" };

/** One line a person can read: what was done, and to what. */
export function describeAudit({
  action,
  target,
  details,
}: Pick<DashboardAuditEntry, "action" | "target" | "details">): {
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
    case "pull_request.merged":
    case "pull_request.closed":
      return `#${details.number} ${text("title")}`;
    default:
      return text("name") || text("email") || text("host") || text("vendor") || (target ?? "");
  }
}
