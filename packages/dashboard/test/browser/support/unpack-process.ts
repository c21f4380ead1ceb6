// Unpacks the Chromium that npm ships, with its libraries and fonts, into the temporary folder.
import { fileURLToPath } from "node:url";
import { inflate } from "@sparticuz/chromium";

const packed = new URL("../bin/", import.meta.resolve("@sparticuz/chromium"));
await Promise.all(
  ["chromium.br", "al2023.tar.br", "fonts.tar.br"].map((name) => inflate(fileURLToPath(new URL(name, packed)))),
);
