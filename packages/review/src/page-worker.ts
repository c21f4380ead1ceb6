import { parentPort } from "node:worker_threads";
import { readPage } from "./read-page.ts";
import type { Syntax } from "./syntax.ts";

parentPort?.on("message", ({ text, syntax }: { text: string; syntax: Syntax }) => {
  parentPort?.postMessage(readPage(text, syntax));
});
