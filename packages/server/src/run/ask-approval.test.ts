import type { Construct } from "@emend/review";
import { expect, it } from "vitest";
import { approvalFor, decideUnknown, groupConstructs, groupsMax, unapprovedIn } from "./ask-approval.ts";

const text = "One\nTwo\nThree\n<b>\nFive\nSix\nSeven";
const overlay = (content: string | null = text) => ({
  read: async () => (content === null ? null : Buffer.from(content)),
});
const one: Construct = {
  ...{ path: "a.md", line: 4, text: "<b>", kind: "element", reason: "No page has it.", key: "element b[]" },
};
const treeOf = (content?: string | null) => ({ overlay: overlay(content) }) as never;

it("asks about what is the same once, with its count, and shows the lines around the first", async () => {
  const groups = await groupConstructs(overlay(), [one, { ...one, line: 9 }, { ...one, path: "b.md" }]);
  expect(groups).toMatchObject([
    { path: "a.md", line: 4, count: 2, around: { line: 2, lines: ["Two", "Three", "<b>", "Five", "Six"] } },
    { path: "b.md", count: 1 },
  ]);
  const [words] = await groupConstructs(overlay(null), [{ ...one, path: "the summary" }]);
  expect(words?.around).toBeNull();
});

it("shows 10,000 invisible characters of a page as one, and an approval is for just these", async () => {
  const hidden = (count: number) =>
    Array.from(
      { length: count },
      (_, at): Construct => ({ ...one, line: at + 1, text: `U+200B ${at}`, kind: "invisible characters", key: null }),
    );
  const asked = await approvalFor({ approved: null }, treeOf(), hidden(10_000));
  expect(asked?.constructs).toMatchObject([{ kind: "invisible characters", count: 10_000 }]);
  const approved = (asked?.constructs ?? []).map(({ id }) => id);
  expect(await approvalFor({ approved }, treeOf(), hidden(10_000))).toBeNull();
  expect(await approvalFor({ approved }, treeOf(), hidden(10_001))).not.toBeNull();
});

it("an approval is for this text, as often as it was, wherever lines moved to", async () => {
  const approved = (await groupConstructs(overlay(), [one])).map(({ id }) => id);
  const left = async (constructs: Construct[], content?: string) =>
    (await unapprovedIn({ approved }, treeOf(content), constructs)).length;
  expect(await left([{ ...one, line: 5 }], `New\n${text}`)).toBe(0);
  expect(await left([{ ...one, text: '<b class="x">', key: "element b[class]" }])).toBe(1);
  expect(await left([one, one])).toBe(1);
  expect(await left([{ ...one, path: "b.md" }])).toBe(1);
});

it("a text that was cut is approved only with the whole file as it is", async () => {
  const long = { ...one, text: "<".padEnd(500, "x") };
  const approved = (await groupConstructs(overlay(), [long])).map(({ id }) => id);
  expect(await unapprovedIn({ approved }, treeOf(), [long])).toEqual([]);
  expect(await unapprovedIn({ approved }, treeOf(`${text}.`), [long])).toHaveLength(1);
});

const verdict = {
  ...{ kind: "passed" as const, introduced: [], fixed: [], findingsBefore: 0, findingsAfter: 0 },
  constructs: [one],
} as const;

it("asks, opens a draft or refuses, as the job says", () => {
  expect(decideUnknown(verdict, "ask", 1)).toBe(verdict);
  expect(decideUnknown(verdict, "draft", 1)).toMatchObject({
    kind: "flagged",
    introduced: [{ check: "unknown-construct", severity: "error", path: "a.md", line: 4 }],
    constructs: [],
  });
  expect(decideUnknown(verdict, "refuse", 1)).toMatchObject({ kind: "denied", violations: [{ path: "a.md" }] });
});

it("refuses more than anybody can judge, so that nothing hides at the end of a list", () => {
  expect(decideUnknown(verdict, "ask", groupsMax + 1)).toMatchObject({ kind: "denied" });
});
