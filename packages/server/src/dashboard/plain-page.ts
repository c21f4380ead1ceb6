import type { FastifyReply } from "fastify";

/** Nothing inline and nothing from elsewhere: a missed escape would still do nothing. */
const policyFor = (formsTo: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    // Pages of sites, which have a policy of their own. A link in one leads nowhere else.
    "frame-src 'self'",
    `form-action 'self'${formsTo}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** `postsTo`: the origin of another site that a form of this page posts to. */
export function sendPage(reply: FastifyReply, status: number, markup: string, postsTo?: string): FastifyReply {
  return reply
    .headers({
      "content-security-policy": policyFor(postsTo === undefined ? "" : ` ${postsTo}`),
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      // The other site gets the origin, as from any page, and never the path.
      "referrer-policy": postsTo === undefined ? "same-origin" : "strict-origin",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
    })
    .type("text/html; charset=utf-8")
    .code(status)
    .send(markup);
}

/** Pages without the dashboard's app. */
export const plainPages = {
  /** Shown in a checkout before its first build. */
  unbuilt: plainPage(
    "The dashboard is not built yet",
    `<p>In the checkout that this server runs from, run this command, then restart the server:</p>
<pre><code>npm run build:dashboard</code></pre>
<p>The API, the command line and git work without it.</p>`,
  ),
  linkGone: plainPage(
    "This link is not valid",
    `<p>It was used, has expired or is incomplete. Make sure that you copied all of it.</p>
<p>A login link works once. Ask an owner for a new invitation, or print another link on the machine that runs Emend:</p>
<pre><code>emend user link</code></pre>`,
  ),
  /** A program sent somebody here with a request that cannot be answered. */
  notConnected: (reason: string) =>
    plainPage(
      "The program is not connected",
      `<p>Its request was not valid: ${escaped(reason)}.</p>
<p>Nothing was allowed. Go back to the program and connect it again. If that fails, create an API key for it.</p>`,
    ),
  knowledgeConnected: (name: string) =>
    plainPage(
      "The knowledge server is connected",
      `<p>Emend can ask ${escaped(name)} now. Jobs use only the tools that you allow:</p>
<pre><code>emend project knowledge tools ${escaped(name)}</code></pre>
<p>You can close this page.</p>`,
    ),
  knowledgeNotConnected: (reason: string) =>
    plainPage(
      "The knowledge server is not connected",
      `<p>Nothing was changed: ${escaped(reason)}. Print a new link on the machine that runs Emend, and open it:</p>
<pre><code>emend project knowledge connect</code></pre>`,
    ),
} as const;

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function plainPage(title: string, main: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${title} · Emend</title></head>
<body>
<h1>${title}</h1>
${main}
</body>
</html>
`;
}
