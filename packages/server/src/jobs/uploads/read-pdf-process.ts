import { buffer } from "node:stream/consumers";
import { extractText, getDocumentProxy } from "unpdf";

// The text of the document on standard input. It runs no script of the document and loads nothing.
const document = await getDocumentProxy(new Uint8Array(await buffer(process.stdin)));
const { text: pages } = await extractText(document, { mergePages: false });
const text = pages.map((page) => page.trim()).join("\n\n");
// As many as a job may read, in UTF-16 units; what follows would only fill the pipe.
process.stdout.write(text.trim().slice(0, 100_000));
