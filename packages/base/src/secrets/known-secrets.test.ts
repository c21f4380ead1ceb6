import { expect, it } from "vitest";
import { knownSecretsIn } from "./scan-secrets.ts";
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
  const redacted = await redactSecrets(text, [token]);
  expect(redacted).toMatch(/^First line\.\nSee \S{0,12}\[redacted: known\]\S*( \S+)?, or so\.$/);
});

it.each([
  ["begin alike", "t0ken-of-the-forge-1234", "t0ken-of-the-forge-1234-and-more-5678"],
  ["overlap", "t0ken-of-the-forge-1234", "the-forge-1234-and-more-5678"],
  ["contain each other", "of-the-forge-1234", "t0ken-of-the-forge-1234-and-more-5678"],
])("of secrets that %s nothing is left", async (_, one, other) => {
  const text = "See t0ken-of-the-forge-1234-and-more-5678, or so.";
  for (const known of [
    [one, other],
    [other, one],
  ])
    expect(await redactSecrets(text, known)).toBe("See [redacted: known], or so.");
});

it("neither placeholders nor keys that are mere words are secrets", () => {
  const text = "Use emend_YOUR_KEY or emend_1234, with the key lm-studio; changeme, and 656d656e645f.";
  expect(knownSecretsIn(text, ["lm-studio", "changeme", "or"])).toEqual([]);
});

const written: ReadonlyArray<readonly [string, (secret: string) => string]> = [
  ["hex with blanks", (secret) => Buffer.from(secret).toString("hex").replaceAll(/../g, "$& ").trim()],
  [
    "hex with colons",
    (secret) =>
      Buffer.from(secret)
        .toString("hex")
        .replaceAll(/..(?!$)/g, "$&:"),
  ],
  [
    "hex in capitals with a mark",
    (secret) => Buffer.from(secret).toString("hex").toUpperCase().replaceAll(/../g, "\\x$&"),
  ],
  ["bytes of a list", (secret) => [...Buffer.from(secret)].map((byte) => `0x${byte.toString(16)}`).join(", ")],
  ["base64 twice", (secret) => Buffer.from(Buffer.from(secret).toString("base64")).toString("base64")],
  ["base64 of hex", (secret) => Buffer.from(Buffer.from(secret).toString("hex")).toString("base64")],
  ["hex of base64", (secret) => Buffer.from(Buffer.from(secret).toString("base64")).toString("hex")],
  [
    "percent signs of base64",
    (secret) =>
      Buffer.from(secret)
        .toString("base64")
        .replaceAll(/[^%]/g, (one) => `%${one.charCodeAt(0).toString(16)}`),
  ],
  ["backwards", (secret) => [...secret].reverse().join("")],
  ["base64 of it backwards", (secret) => Buffer.from([...secret].reverse().join("")).toString("base64")],
  ["two texts that code joins", (secret) => `"${secret.slice(0, 15)}" + "${secret.slice(15)}"`],
];

it.each(written)("finds a known secret in %s, and nothing in what looks like it", (_, encode) => {
  const secret = "sk-t0ken-of-the-model-and-of-nobody-else";
  expect(knownSecretsIn(`Use ${encode(secret)} here.`, [secret])).not.toEqual([]);
  expect(knownSecretsIn(`Use ${encode(secret.replaceAll("o", "0"))} here.`, [secret])).toEqual([]);
});

it("does not find one that is split by other words, which the documentation says", () => {
  const secret = "sk-t0ken-of-the-model-and-of-nobody-else";
  expect(knownSecretsIn(`First ${secret.slice(0, 20)}, and then ${secret.slice(20)}`, [secret])).toEqual([]);
});
