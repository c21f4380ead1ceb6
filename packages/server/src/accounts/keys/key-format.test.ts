import fc from "fast-check";
import { expect, test } from "vitest";
import { isKey, newKey, splitKey } from "./api-keys.ts";

function parseKey(text: string) {
  const parts = splitKey(text);
  return parts && isKey(parts) ? parts : null;
}

test("a key begins with emend_, holds 178 bits of secret, and gives its parts back", () => {
  const key = newKey();
  expect(key.text).toMatch(/^emend_[0-9A-Za-z]{48}$/);
  expect(Math.log2(62) * key.secret.length).toBeGreaterThanOrEqual(178);
  expect(parseKey(key.text)).toEqual({ id: key.id, secret: key.secret, checksum: key.text.slice(-6) });
  expect(key.hint).toBe(key.text.slice(0, 10));
});

test("no two keys share an id or a secret", () => {
  const keys = Array.from({ length: 200 }, () => newKey());
  expect(new Set(keys.map(({ id }) => id)).size).toBe(200);
  expect(new Set(keys.map(({ secret }) => secret)).size).toBe(200);
});

test("a key with one character changed is refused by its checksum", () => {
  const key = newKey();
  const digit = fc.constantFrom(..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  fc.assert(
    fc.property(fc.integer({ min: 6, max: 53 }), digit, (at, other) => {
      fc.pre(key.text[at] !== other);
      return parseKey(key.text.slice(0, at) + other + key.text.slice(at + 1)) === null;
    }),
  );
});

test.each([
  "",
  "emend_",
  "emend_x",
  newKey().text.slice(1),
  `${newKey().text}0`,
  newKey().text.replace("emend_", "Emend_"),
])("%j is no key", (text) => {
  expect(parseKey(text)).toBeNull();
});
