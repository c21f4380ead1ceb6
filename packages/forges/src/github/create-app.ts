import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fetch } from "@emend/base/network.ts";
import { Type } from "typebox";
import { PageUrl } from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import { appPermissions, createGithubClient } from "./github-token.ts";

interface CreatedApp {
  /** In the form that a project stores. */
  credential: string;
  name: string;
  installUrl: string;
}

interface CreateAppInput {
  /** The origin of GitHub's pages: `https://github.com`. */
  origin: string;
  apiUrl: string;
  /** Who may own the App: an organization, or with null the person who opens the page. That person chooses. */
  owners: readonly (string | null)[];
  name: string;
  homeUrl: string;
  hookUrl: string | null;
}

/**
 * Serves a page on this machine that creates a GitHub App, and receives GitHub's response. `told` gets the page's URL,
 * which contains a secret: nobody else on the machine can start or finish this.
 */
export async function createApp(
  deps: { fetch: Fetch; told(url: string): void },
  input: CreateAppInput,
  signal: AbortSignal,
): Promise<CreatedApp> {
  const { promise: created, resolve, reject } = Promise.withResolvers<CreatedApp>();
  const state = randomBytes(32).toString("base64url");
  let origin = "";
  let isTaken = false;

  async function answer(request: IncomingMessage): Promise<{ status: number; html: string }> {
    const url = new URL(request.url ?? "/", origin);
    const given = url.searchParams.get("state") ?? "";
    // DNS rebinding guard: a web page could reach this server by another host name.
    if (request.method !== "GET" || request.headers.host !== new URL(origin).host || !isSame(given, state)) {
      return { status: 404, html: page("Not found", "<p>Open the address that the command printed.</p>") };
    }
    const code = url.searchParams.get("code");
    if (url.pathname !== "/created") return { status: 200, html: manifestPage(input, origin, state) };
    if (!code || isTaken) return { status: 400, html: page("Nothing to do", "<p>Run the command again.</p>") };
    isTaken = true;
    try {
      const { appId, privateKey, name, installUrl } = await convertManifest(
        { ...deps, apiUrl: input.apiUrl },
        code,
        signal,
      );
      resolve({ credential: JSON.stringify({ appId, privateKey }), name, installUrl });
      const link = `<p><a href="${escapeHtml(installUrl)}">Install it on the repository</a>; the command then continues.</p>`;
      return { status: 200, html: page(`${name} was made`, link) };
    } catch (error) {
      reject(error);
      return { status: 502, html: page("GitHub did not create the App", "<p>The command says why.</p>") };
    }
  }

  const server = createServer((request, response) => {
    void answer(request).then(({ status, html }) => send(response, status, html));
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = () => reject(gaveUp());
  signal.addEventListener("abort", stop, { once: true });
  try {
    deps.told(`${origin}/?state=${state}`);
    return await created;
  } finally {
    signal.removeEventListener("abort", stop);
    // The last response must be sent before its connection closes.
    server.closeIdleConnections();
    server.close();
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  }
}

/** Where a manifest is posted. GitHub adds the state to its redirect. */
export function newAppUrl(origin: string, organization: string | null, state: string): string {
  const owner = organization === null ? "" : `/organizations/${encodeURIComponent(organization)}`;
  return `${origin}${owner}/settings/apps/new?state=${state}`;
}

function send(response: ServerResponse, status: number, html: string): void {
  const policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(html);
}

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function gaveUp(): ForgeFault {
  return new ForgeFault("forge_unavailable", {
    publicMessage: "The App was not created in time: run the command again.",
  });
}

const Converted = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  html_url: PageUrl,
  pem: Type.String(),
});

/** Events that make Emend look at a pull request or an issue immediately. Each needs a permission of `appPermissions`. */
const appEvents = [
  "push",
  "pull_request",
  "pull_request_review",
  "pull_request_review_comment",
  "issues",
  "issue_comment",
] as const;

/**
 * The App to create: private, with the minimum of permissions. Without a webhook `hook_attributes` is left out: GitHub
 * refuses the object without a URL, even if it is not active (github/docs at 60321755, 2026-08-07: "url: Required").
 */
export function appManifest(input: {
  name: string;
  homeUrl: string;
  redirectUrl: string;
  /** Where GitHub sends people after they installed it. */
  setupUrl: string | null;
  /** Where GitHub sends events. Null if GitHub cannot reach this server. */
  hookUrl: string | null;
}): Record<string, unknown> {
  return {
    name: input.name,
    url: input.homeUrl,
    description: "Opens pull requests on the documentation.",
    public: false,
    redirect_url: input.redirectUrl,
    ...(input.setupUrl !== null && { setup_url: input.setupUrl, setup_on_update: true }),
    default_permissions: appPermissions,
    ...(input.hookUrl !== null && {
      hook_attributes: { url: input.hookUrl, active: true },
      default_events: appEvents,
    }),
  };
}

/** A page that posts the manifest to GitHub as the person who opens it, with a button for each possible owner. */
function manifestPage(input: CreateAppInput, origin: string, state: string): string {
  const { name, homeUrl, hookUrl, owners } = input;
  const manifest = appManifest({ name, homeUrl, redirectUrl: `${origin}/created`, setupUrl: null, hookUrl });
  const buttonFor = (owner: string | null) =>
    owners.length === 1
      ? "Continue on GitHub"
      : owner === null
        ? "Continue for your own account"
        : `Continue for the organization ${owner}`;
  const buttons = owners.map(
    (owner) =>
      `<button type="submit" formaction="${escapeHtml(newAppUrl(input.origin, owner, state))}">${escapeHtml(buttonFor(owner))}</button>`,
  );
  const question =
    owners.length === 1
      ? ""
      : "<p>GitHub does not say whether the repository belongs to an organization. A private App can be installed only by its owner, so choose the owner of the repository.</p>\n";
  return page(
    "Create the GitHub App",
    `<form id="manifest" method="post">
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(manifest))}">
<p>GitHub shows the App's name and permissions before it creates it.</p>
${question}${buttons.join("\n")}
</form>`,
  );
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>
<body style="font-family: system-ui; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>${escapeHtml(title)}</h1>
${body}
</body></html>
`;
}

function escapeHtml(text: string): string {
  const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");
}

/** Exchanges GitHub's code, which is valid once and for an hour, for the App's credentials. */
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
