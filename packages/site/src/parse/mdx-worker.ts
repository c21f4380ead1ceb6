import { parentPort } from "node:worker_threads";
import { toByteString } from "../text/bytes.ts";
import { parseMdx, type SyntaxProblem } from "./full-parse.ts";

export interface MdxAnswer {
  problem: SyntaxProblem | null;
}

parentPort?.on("message", (bytes: Uint8Array) => {
  parentPort?.postMessage({ problem: parseMdx(toByteString(bytes)) } satisfies MdxAnswer);
});
