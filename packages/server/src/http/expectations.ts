import type { FastifyInstance } from "fastify";

/**
 * A client that announces its body with `Expect: 100-continue` learns first whether it may send it: below `/v2` the
 * route itself asks for the body once the key is known. Other expectations are ignored, as the standard allows.
 */
export function askForBodiesLate(app: FastifyInstance): void {
  app.server.on("checkContinue", (request, response) => {
    if (!request.url?.includes("/v2/")) response.writeContinue();
    app.server.emit("request", request, response);
  });
  app.server.on("checkExpectation", (request, response) => {
    app.server.emit("request", request, response);
  });
}
