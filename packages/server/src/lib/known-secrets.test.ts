import { expect, it } from "vitest";
import { knownSecretsIn } from "./known-secrets.ts";
import { redactSecrets } from "./secrets-in.ts";

const own = `emend_${"aB3".repeat(16)}`;
const token = "t0ken/of+the=forge-1234";
const encodings: Record<string, (text: string) => string> = {
  "as it is": (text) => text,
  "in hex": (text) => Buffer.from(text).toString("hex"),
  "in capital hex": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  "in base64": (text) => Buffer.from(text).toString("base64"),
  "in base64 for addresses": (text) => Buffer.from(text).toString("base64url"),
  "in base64 behind one byte": (text) => Buffer.from(`:${text}`).toString("base64"),
  "in base64 behind a name": (text) => Buffer.from(`user:${text}`).toString("base64"),
  "in base64 within more": (text) => Buffer.from(`name:${text} and more of it`).toString("base64"),
};

it.each(Object.entries(encodings))("a key of Emend's own is found %s", (_, encode) => {
  const text = `First line.\nSee ${encode(own)}, or so.`;
  expect(knownSecretsIn(text, [])).toMatchObject([{ kind: "emend" }]);
});

it.each([
  ...Object.entries(encodings),
  ["percent-encoded", encodeURIComponent],
  [
    "in base64 on two lines",
    (text: string) =>
      Buffer.from(text)
        .toString("base64")
        .replace(/^(.{8})/, "$1\n"),
  ],
] as [string, (text: string) => string][])("a secret that is known is found %s", async (_, encode) => {
  const text = `First line.\nSee ${encode(token)}, or so.`;
  expect(knownSecretsIn(text, [token])).toMatchObject([{ kind: "known" }]);
  expect(knownSecretsIn(text, [])).toEqual([]);
  const redacted = await redactSecrets(text, { known: [token] });
  expect(redacted).toMatch(/^First line\.\nSee \S{0,12}\[redacted: known\]\S*( \S+)?, or so\.$/);
});

it("neither placeholders nor keys that are mere words are secrets", () => {
  const text = "Use emend_YOUR_KEY or emend_1234, with the key lm-studio; changeme, and 656d656e645f.";
  expect(knownSecretsIn(text, ["lm-studio", "changeme", "or"])).toEqual([]);
});
