import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { cutUnreadBody } from "./cut-unread-body.ts";
import { createPathRewriter } from "./path-rewriter.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A request may take this long to arrive: a push is silent while git compresses it. Nothing else here is for so long. */
const silenceMsMax = 300_000;

/** Node's server, with what must happen to a request before it is routed. */
export function createHttpServer(
  handler: Handler,
  publicUrl: () => string,
  times: { silenceMsMax: number } = { silenceMsMax },
): Server {
  const rewritePath = createPathRewriter(publicUrl);
  const server = createServer(
    {
      requestTimeout: silenceMsMax,
      // Longer than load balancers keep theirs: who closes first must not be the one that is being written to.
      keepAliveTimeout: 72_000,
      // Without this Node answers a missing Host by itself, without a body.
      requireHostHeader: false,
    },
    take,
  );

  // Whoever neither sends nor reads would hold an answer of megabytes for as long as they like.
  server.setTimeout(times.silenceMsMax);

  function take(request: IncomingMessage, response: ServerResponse): void {
    cutUnreadBody(request, response);
    if (request.headers.host === undefined && request.httpVersionMinor === 1) {
      refuseWithoutHost(response);
      return;
    }
    request.url = rewritePath(request.url ?? "/");
    handler(request, response);
  }

  // A client that announces its body learns first whether it may send it: below `/v2` the route itself asks for the
  // body once the key is known.
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.includes("/v2/")) response.writeContinue();
    take(request, response);
  });
  // Other expectations may be ignored, says the standard; Node would refuse them without a body.
  server.on("checkExpectation", take);
  return server;
}

function refuseWithoutHost(response: ServerResponse): void {
  const body = JSON.stringify({ error: "The Host header is missing." });
  response.writeHead(400, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "emend-error": "invalid_request",
    connection: "close",
  });
  response.end(body);
}
