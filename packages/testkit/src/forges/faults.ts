import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { type Answer, send } from "./answer.ts";

/** The faults between Emend and a forge. */
export type Fault =
  /** Returns this response and does nothing else. */
  | { kind: "answer"; status: number; words: string; headers?: Record<string, string>; body?: object }
  /** Carries out the request, then loses the response. */
  | { kind: "lost"; how: "502" | "reset" | "silence" | "slow" | "cut" | "no json"; afterwards?(): void }
  /** Does not carry out the request, and sends no response. */
  | { kind: "ignored"; how: "reset" | "silence" }
  /**
   * Carries out the request after `beforeMs` (between its check and its effect), and answers `afterMs` later. `isDropped`:
   * not if the client has left by then, as behind GitLab's Workhorse and other proxies.
   */
  | { kind: "late"; beforeMs: number; afterMs: number; meanwhile?(): void; isDropped?: boolean }
  /** Something else happens first. */
  | { kind: "before"; happens(): void };

export async function applyFault(
  fault: Fault,
  scene: {
    request: IncomingMessage;
    response: ServerResponse;
    vendor: { refusal(status: number, words: string): unknown };
    /** `work`: what takes a while between the check and the effect. */
    perform(work?: () => Promise<void>): Promise<{ answer: Answer }>;
    serve(): Promise<void>;
    isApi: boolean;
  },
): Promise<void> {
  const { response, request, vendor } = scene;
  switch (fault.kind) {
    case "before":
      fault.happens();
      return scene.serve();
    case "late": {
      if (!scene.isApi) {
        await pause(fault.beforeMs);
        return scene.serve();
      }
      const left = new Error("the client left");
      const performed = await scene
        .perform(async () => {
          fault.meanwhile?.();
          await pause(fault.beforeMs);
          if (fault.isDropped && response.destroyed) throw left;
        })
        .catch((error: unknown) => {
          if (error === left) return null;
          throw error;
        });
      if (!performed) return;
      const { answer } = performed;
      await pause(fault.afterMs);
      if (!response.destroyed) send(response, answer);
      return;
    }
    case "answer": {
      request.resume();
      const { status, words, headers } = fault;
      // Git shows people only what is plain text.
      if (!scene.isApi) return void response.writeHead(status, { "content-type": "text/plain", ...headers }).end(words);
      const body = { ...(vendor.refusal(status, words) as object), ...fault.body };
      return send(response, { status, body, headers });
    }
    case "ignored":
      request.resume();
      if (fault.how === "reset") response.socket?.resetAndDestroy();
      return;
    case "lost": {
      const { answer } = await scene.perform();
      fault.afterwards?.();
      if (fault.how === "502") response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>");
      if (fault.how === "reset") response.socket?.resetAndDestroy();
      if (fault.how === "no json") response.writeHead(answer.status, { "content-type": "text/html" }).end("<html>");
      if (fault.how === "cut" || fault.how === "slow") {
        const text = JSON.stringify(answer.body);
        response.writeHead(answer.status, { "content-type": "application/json", "content-length": text.length });
        response.write(text.slice(0, 20), () => fault.how === "cut" && response.socket?.destroy());
      }
      return;
    }
  }
}
