import { expect, it } from "vitest";
import { measureJson } from "./measure-json.ts";

it.each([
  ['{"a":[1,2,{"b":null}]}', { nodes: 5, depth: 3 }],
  ['"[{,"', { nodes: 0, depth: 0 }],
  ['["\\"[{,", "\\\\"]', { nodes: 2, depth: 1 }],
  ["[[],[],[]]", { nodes: 6, depth: 2 }],
  ["", { nodes: 0, depth: 0 }],
])("measures %s", (text, size) => {
  expect(measureJson(Buffer.from(text))).toEqual(size);
});
