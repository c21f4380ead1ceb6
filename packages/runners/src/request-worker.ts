import { parentPort } from "node:worker_threads";
import { judgeRequest, measureJson } from "./judge-request.ts";
import { requestProtocols } from "./vendors.ts";

export interface RequestQuestion {
  /** Without the version. */
  path: string;
  model: string | null;
  bytes: Uint8Array;
  nodesMax: number;
  depthMax: number;
}

/** `bytes`: the request, serialized again, so that the vendor reads what was judged, even with duplicate keys. */
export type RequestVerdict = { kind: "passed"; bytes: Uint8Array } | { kind: "refused"; status: number; words: string };

function verdictOn({ path, model, bytes, nodesMax, depthMax }: RequestQuestion): RequestVerdict {
  const protocol = requestProtocols[path];
  if (!protocol) return { kind: "refused", status: 403, words: "Nothing is said to the model there." };
  const { nodes, depth } = measureJson(bytes);
  if (nodes > nodesMax || depth > depthMax) {
    const words = `A request has ${nodesMax} values at most, nested ${depthMax} deep at most.`;
    return { kind: "refused", status: 413, words };
  }
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return { kind: "refused", status: 400, words: "A request's body is JSON, as it is." };
  }
  const judged = judgeRequest({ protocol, model }, body);
  if (judged.kind === "refused") return { kind: "refused", status: 403, words: judged.words };
  return { kind: "passed", bytes: new TextEncoder().encode(JSON.stringify(judged.body)) };
}

parentPort?.on("message", (question: RequestQuestion) => parentPort?.postMessage(verdictOn(question)));
