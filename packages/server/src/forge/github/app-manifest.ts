import { Type } from "typebox";
import type { Fetch } from "../../lib/network.ts";
import { PageUrl } from "../answer-parts.ts";
import { createGithubClient } from "./github-client.ts";
import { appPermissions } from "./github-token.ts";

const Converted = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  html_url: PageUrl,
  pem: Type.String(),
});

/** What makes Emend look at a pull request at once; each needs a right that `appPermissions` has. */
const appEvents = [
  "push",
  "pull_request",
  "pull_request_review",
  "pull_request_review_comment",
  "issue_comment",
] as const;

/** What GitHub is asked to make of an App: private, and with the least that jobs need. */
export function appManifest(input: {
  name: string;
  homeUrl: string;
  redirectUrl: string;
  /** Where GitHub tells what happens on pull requests; null: it could not reach it. */
  hookUrl: string | null;
}): Record<string, unknown> {
  return {
    name: input.name,
    url: input.homeUrl,
    description: "Opens pull requests on the documentation.",
    public: false,
    redirect_url: input.redirectUrl,
    default_permissions: appPermissions,
    ...(input.hookUrl !== null && {
      hook_attributes: { url: input.hookUrl, active: true },
      default_events: appEvents,
    }),
  };
}

/** A page that hands the manifest over to GitHub in the name of whoever opens it. */
export function manifestPage(input: { action: string; manifest: Record<string, unknown> }): string {
  return page(
    "Create the GitHub App",
    `<form id="manifest" method="post" action="${escapeHtml(input.action)}">
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(input.manifest))}">
<p>GitHub will show the App's name and rights before it makes it.</p>
<button type="submit">Go on at GitHub</button>
</form>`,
  );
}

export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body style="font-family: system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>${escapeHtml(title)}</h1>
${body}
</body></html>
`;
}

export function escapeHtml(text: string): string {
  const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}

/** Exchanges GitHub's code, which works once and for an hour, for the App that it made. */
export async function convertManifest(
  deps: { fetch: Fetch; apiUrl: string },
  code: string,
  signal: AbortSignal,
): Promise<{ appId: string; privateKey: string; name: string; installUrl: string }> {
  const api = createGithubClient({ ...deps, authorization: async () => null });
  const path = `/app-manifests/${encodeURIComponent(code)}/conversions`;
  const made = await api.call({ method: "POST", path, answer: Converted, what: "make the App" }, signal);
  const installUrl = `${made.html_url}/installations/new`;
  return { appId: String(made.id), privateKey: made.pem, name: made.name, installUrl };
}
