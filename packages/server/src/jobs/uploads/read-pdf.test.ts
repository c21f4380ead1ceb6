import { makePdf } from "@emend/testkit/pictures.ts";
import { expect, test } from "vitest";
import { readPdf } from "./read-pdf.ts";

const enough = { readMsMax: 60_000, memoryKbMax: 4_000_000 };

test("a document that needs more time than it may have is not read", async () => {
  const document = makePdf("The port is 4610.");
  expect(await readPdf(document, enough)).toBe("The port is 4610.");
  expect(await readPdf(document)).toBe("The port is 4610.");
  expect(await readPdf(document, { ...enough, readMsMax: 1 })).toBeNull();
});

test.skipIf(process.platform !== "linux")(
  "a document of a few bytes that unpacks to gigabytes is not read (Linux)",
  async () => {
    const bomb = makePdf("The port is 4610.", 24_000_000);
    expect(bomb.length).toBeLessThan(4_000);
    // With memory for it, it is only a document.
    expect(await readPdf(bomb, enough)).toBe("The port is 4610.");
    expect(await readPdf(bomb, { ...enough, memoryKbMax: 640_000 })).toBeNull();
  },
);
