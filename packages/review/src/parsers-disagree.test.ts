import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { judgeEdit } from "../test/judge-edit.ts";

interface Disagreement {
  parser: string;
  site: Readonly<Record<string, string>>;
  path: string;
  text: string;
}

/** Pages in which a real parser or builder found live markup that the rule took for code, text or an attribute. */
const pages: readonly Disagreement[] = JSON.parse(
  readFileSync(new URL("../test/fixtures/parsers-disagree.json", import.meta.url), "utf8"),
);

it.each(pages)("refuses what $parser finds in $path: $text", async ({ site, path, text }) => {
  expect((await judgeEdit(site, path, text)).violations).not.toEqual([]);
});
