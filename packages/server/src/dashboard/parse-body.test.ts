import { Type } from "typebox";
import { expect, it } from "vitest";
import { bodyParser } from "./parse-request.ts";

const parse = bodyParser(
  Type.Object({
    next: Type.String(),
    maybe: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    settings: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    trigger: Type.Optional(
      Type.Union([
        Type.Object({ kind: Type.Literal("manual") }),
        Type.Object({ kind: Type.Literal("cron"), expression: Type.String() }),
      ]),
    ),
  }),
);

it("leaves out what the form does not name, however deep, and keeps the rest as it is", () => {
  const given = JSON.parse(
    `{"next":"x","maybe":null,"userId":"usr_owner","__proto__":{"role":"owner"},"settings":{"any":{"deep":[1]}},
      "trigger":{"kind":"cron","expression":"* * * * *","createdBy":"nobody"}}`,
  );
  const parsed = parse(given);
  expect(parsed).toEqual({
    next: "x",
    maybe: null,
    settings: { any: { deep: [1] } },
    trigger: { kind: "cron", expression: "* * * * *" },
  });
  expect(Object.hasOwn(parsed, "__proto__")).toBe(false);
});

it("refuses with a clear error, without coercion", () => {
  expect(() => parse({ next: 5 })).toThrow("`next` must be a string.");
  expect(() => parse({ next: "x", maybe: "5" })).toThrow(/maybe/);
  expect(() => parse([])).toThrow(/The body/);
});
