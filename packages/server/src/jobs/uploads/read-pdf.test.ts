import { makePdf } from "@emend/testkit/pictures.ts";
import { expect, test } from "vitest";
import { readPdf } from "./read-pdf.ts";

const document = makePdf("The port is 4610.");
const enough = { readMsMax: 60_000, memoryMbMax: 256 };

// Its reader alone needs more than 8 MB. With less, V8 ends the process before the thread has begun.
test("a document that needs more time or memory than it may have is not read", async () => {
  expect(await readPdf(document, enough)).toBe("The port is 4610.");
  expect(await readPdf(document, { ...enough, memoryMbMax: 8 })).toBeNull();
  expect(await readPdf(document, { ...enough, readMsMax: 0 })).toBeNull();
});
