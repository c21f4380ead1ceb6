import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyReply } from "fastify";
import type { Caller } from "../caller.ts";
import { html } from "../pages/html.ts";
import type { PageContext } from "../pages/layout.ts";
import { noticePage, notices } from "../pages/notice-page.ts";
import type { PluginDeps } from "./plugin-deps.ts";

/** No script, nothing from elsewhere, no frame, no base: what slipped through an escaper would still do nothing. */
const policy =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export interface Style {
  path: string;
  text: string;
}

/** Named by its content, so that browsers may keep it for ever. */
export function readStyle(): Style {
  const text = ["palette.css", "style.css", "diff.css"]
    .map((name) => readFileSync(new URL(`../pages/${name}`, import.meta.url), "utf8"))
    .join("\n");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { path: `/forge/style-${hash}.css`, text };
}

export function pageContext(deps: PluginDeps, style: Style, caller: Caller | null): PageContext {
  const { pathname } = new URL(deps.publicUrl());
  return { basePath: pathname.replace(/\/+$/, ""), stylePath: style.path, session: caller?.session ?? null };
}

export function sendPage(reply: FastifyReply, status: number, markup: string): FastifyReply {
  return reply
    .code(status)
    .headers({
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      // With no-referrer a browser would post our own forms with the origin "null".
      "referrer-policy": "same-origin",
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
    })
    .type("text/html; charset=utf-8")
    .send(markup);
}

const statuses = {
  unreadable: 400,
  signIn: 401,
  forbidden: 403,
  notFound: 404,
  linkGone: 410,
  fault: 500,
  unavailable: 503,
  busy: 503,
} as const;

export function sendNotice(reply: FastifyReply, context: PageContext, name: keyof typeof statuses): FastifyReply {
  if (name === "signIn") reply.header("www-authenticate", "Bearer");
  return sendPage(reply, statuses[name], noticePage(context, notices[name]));
}

export function sendForeignOrigin(reply: FastifyReply, context: PageContext, publicUrl: string): FastifyReply {
  const words = html`<p>This form was sent from another address than <code>${publicUrl}</code>, so nothing was done.
Open the page there and try again.</p>`;
  return sendPage(reply, 403, noticePage(context, { title: "Sent from elsewhere", words }));
}
