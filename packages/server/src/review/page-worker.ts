import { parentPort } from "node:worker_threads";
import type { Syntax } from "./page-parts.ts";
import { readPage } from "./read-page.ts";

parentPort?.on("message", ({ text, syntax }: { text: string; syntax: Syntax }) => {
  parentPort?.postMessage(readPage(text, syntax));
});
