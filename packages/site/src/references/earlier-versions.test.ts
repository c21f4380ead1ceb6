import { expect, test } from "vitest";
import { findEarlierVersions } from "./earlier-versions.ts";

test.each<[string, string[], string[]]>([
  ["the highest is the newest", ["v1.9/a.md", "v1.10/a.md", "v1.8.4/a.md"], ["v1.9/a.md", "v1.8.4/a.md"]],
  ["an unreleased one is newer", ["docs/v2/a.md", "docs/main/a.md"], ["docs/v2/a.md"]],
  ["one that may stand for all", ["v1/a.md", "v1.15/a.md", "v1.14/a.md"], ["v1.14/a.md"]],
  ["the folder for developers is none", ["docs/v2/a.md", "docs/dev/a.md"], []],
  ["an open end in capitals", ["v2.X/a.md", "v1.X/a.md"], ["v1.X/a.md"]],
  ["one alone is the newest", ["docs/v2/a.md", "docs/guide/a.md", "other/v3/a.md"], []],
  ["names before and after", ["90.v8/a.md", "91.v7/deep/a.md"], ["91.v7/deep/a.md"]],
  ["an open end", ["version-5.x/a.md", "version-4.x/a.md", "4/a.md"], ["version-4.x/a.md"]],
  ["a number is no version", ["1.intro/a.md", "2/a.md", "3/a.md", "v.md", "v2.md"], []],
])("pages of earlier versions: %s", (_, paths, earlier) => {
  expect(paths.filter(findEarlierVersions(paths))).toEqual(earlier);
});
