import { parentPort, workerData } from "node:worker_threads";
import { extractText, getDocumentProxy } from "unpdf";

// The text of a document, page by page. It runs no script of the document and loads nothing.
const document = await getDocumentProxy(new Uint8Array(workerData.bytes));
const { text } = await extractText(document, { mergePages: false });
parentPort?.postMessage(text);
