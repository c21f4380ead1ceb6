import { parentPort } from "node:worker_threads";
import { readPage, type Syntax } from "./read-page.ts";

parentPort?.on("message", ({ text, syntax }: { text: string; syntax: Syntax }) => {
  parentPort?.postMessage(readPage(text, syntax));
});
