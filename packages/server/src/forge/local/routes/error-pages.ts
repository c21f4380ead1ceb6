import type { FastifyReply, FastifyRequest } from "fastify";
import { isDatabaseUnavailable } from "../../../db/is-unavailable.ts";
import { requestId } from "../../../lib/request-id.ts";
import { pageContext, type Style, sendNotice } from "./page-reply.ts";
import type { PluginDeps } from "./plugin-deps.ts";

/** Whatever a handler threw, as a page. What it was is for the log alone. */
export function pageErrors(deps: PluginDeps, style: Style) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const context = pageContext(deps, style, null);
    if (isDatabaseUnavailable(error)) {
      deps.log.warn({ err: error, requestId: requestId(request.raw) }, "database unavailable");
      sendNotice(reply.header("retry-after", "1"), context, "unavailable");
      return;
    }
    const { statusCode = 500 } = error as { statusCode?: number };
    if (statusCode < 500) {
      sendNotice(reply, context, "unreadable");
      return;
    }
    const about = { requestId: requestId(request.raw), method: request.method, route: request.routeOptions.url };
    deps.log.error({ err: error, ...about }, "request failed");
    sendNotice(reply, context, "fault");
  };
}
