import { expect, test } from "vitest";
import { verdictOf } from "./judge-pull.ts";

test("a status without findings claims no more than what was compared", () => {
  const words = (isDocs: boolean, docsPull: number | null) => verdictOf([], "failing", { isDocs, docsPull });
  expect(words(false, null)).toEqual({ state: "passed", words: "No page names what this removes." });
  expect(words(false, 7)).toMatchObject({
    words: "Docs pull request #7 updates every page that names what this removes.",
  });
  expect(words(true, null)).toMatchObject({ words: "No new problems in the docs." });
});
