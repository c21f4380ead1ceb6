import { expect, test } from "vitest";
import { applyPatch } from "./scim-patch.ts";

const shape = { kept: ["members"], lists: ["members"], ignored: [] };
const count = 300;
const numbered = (from: number) => Array.from({ length: count }, (_, at) => ({ value: `dru_${from + at}` }));

test.each([
  ["add", 2 * count],
  ["remove", count],
])("%s of many members reads each of them a few times, not once for each member that is there", (op, left) => {
  let reads = 0;
  const watched = (value: string) =>
    Object.defineProperty({}, "value", {
      enumerable: true,
      get() {
        reads += 1;
        return value;
      },
    });
  const value = numbered(count).map((each) => watched(each.value));
  const before = { members: [...numbered(0), ...(op === "remove" ? numbered(count) : [])] };
  const { members } = applyPatch(before, { Operations: [{ op, path: "members", value }] }, shape);
  expect(members).toHaveLength(left);
  expect(reads).toBeLessThan(10 * count);
});
