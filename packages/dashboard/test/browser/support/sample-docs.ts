import { fileURLToPath } from "node:url";

export const sampleDocs = fileURLToPath(new URL("../../../../cli/sample/", import.meta.url));
