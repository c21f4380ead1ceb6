import { expect, it } from "vitest";
import { csvFile, csvLine } from "./csv.ts";

it.each([
  ["=1+1", "'=1+1"],
  ["＝1+1", "'＝1+1"],
  ["\t=1", `"'\t'=1"`],
  // Quotes protect a cell only if the reader uses the same separator.
  ["a;=1+1", `"a;'=1+1"`],
  ["a,@SUM(1)", `"a,'@SUM(1)"`],
  ["a\n=1+1", `"a\n'=1+1"`],
  ['a;"=1+1"', `"a;""'=1+1"""`],
  ["a - b = c", "a - b = c"],
  ["docs, mostly", '"docs, mostly"'],
])("lets no spreadsheet take %j for a formula", (text, written) => {
  expect(csvLine([text])).toBe(`${written}\r\n`);
});

it("writes for spreadsheets that part by semicolons", () => {
  expect(csvFile([["cost"], ["a,b", 0.25, null, -1]], ";")).toBe('\uFEFFcost\r\n"a,b";0,25;;-1\r\n');
});
