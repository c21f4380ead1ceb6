import { expect, it } from "vitest";
import { holdsSecret } from "./collect-edits.ts";

const secret = "prod-gateway-key-77aa?~very>secret";
const holds = (text: string) => holdsSecret(Buffer.from(text), secret);

it.each([
  ["as it is", `Key: ${secret}\n`],
  ["in references", secret.replaceAll("-", "&#45;")],
  ["in percent signs", encodeURIComponent(secret)],
  ["in hex", Buffer.from(secret).toString("hex").toUpperCase()],
  ...[0, 1, 2].map((lead): [string, string] => [
    `in base64, ${lead} bytes in`,
    Buffer.from(`${"ab".repeat(3).slice(0, 3 + lead)}${secret} and more`).toString("base64"),
  ]),
  ["in the other base64", Buffer.from(`x${secret}`).toString("base64url")],
  [
    "in base64 with line breaks",
    Buffer.from(secret)
      .toString("base64")
      .replaceAll(/(.{10})/g, "$1\n"),
  ],
])("finds it %s", (_how, text) => {
  expect(holds(text)).toBe(true);
});

it("finds nothing in other text, nor a secret too short to be one", () => {
  expect(holds("# Auth\n\nA gateway key opens the door.\n")).toBe(false);
  expect(holdsSecret(Buffer.from("abc"), "abc")).toBe(false);
  expect(holdsSecret(Buffer.from("anything"), "")).toBe(false);
});
