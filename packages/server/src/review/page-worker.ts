import { parentPort } from "node:worker_threads";
import type { Syntax } from "./page-reading.ts";
import { readPage } from "./read-page.ts";

export interface PageQuestion {
  text: string;
  syntax: Syntax;
}

parentPort?.on("message", ({ text, syntax }: PageQuestion) => {
  parentPort?.postMessage(readPage(text, syntax));
});
