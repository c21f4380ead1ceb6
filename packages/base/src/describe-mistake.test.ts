import { Type } from "typebox";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { describeMistake } from "./describe-mistake.ts";

const schema = Type.Object(
  { pattern: Type.String({ minLength: 1 }), path: Type.Optional(Type.String()), limit: Type.Optional(Type.Integer()) },
  { additionalProperties: false },
);
const words = (input: unknown) =>
  Value.Errors(schema, input).map((error) => describeMistake(error, Object.keys(schema.properties)));

test.each([
  [{ pattern: 5 }, "`pattern` must be a string"],
  [{ pattern: "x", limit: "3" }, "`limit` must be an integer"],
  [{ pattern: "" }, "`pattern` must not be empty"],
  [{ query: "x" }, "`pattern` is required"],
  [{ pattern: "x", query: "x" }, "Unknown argument `query`; did you mean `pattern`?"],
  [{ pattern: "x", Path: "x" }, "Unknown argument `Path`; did you mean `path`?"],
  [{ pattern: "x", patern: "x" }, "Unknown argument `patern`; did you mean `pattern`?"],
  [{ pattern: "x", depth: 1 }, "Unknown argument `depth`; there is `pattern`, `path`, `limit`"],
  ["x", "The input must be an object"],
])("%j: %s", (input, expected) => {
  expect(words(input)).toContain(expected);
});
