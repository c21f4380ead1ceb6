import { expect, test, vi } from "vitest";
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

test("many operations that name a member each look at no other", () => {
  const compared = vi.spyOn(String.prototype, "toLowerCase");
  const Operations = numbered(0).map(({ value }) => ({ op: "remove", path: `members[value eq "${value}"]` }));
  const { members } = applyPatch({ members: numbered(0) }, { Operations }, shape);
  const times = compared.mock.calls.length;
  compared.mockRestore();
  expect(members).toEqual([]);
  expect(times).toBeLessThan(30 * count);
});

test("a filter that is a search is refused on a large group, and kept on a person's addresses", () => {
  const Operations = [{ op: "remove", path: 'members[display eq "Ann"]' }];
  expect(() => applyPatch({ members: numbered(0) }, { Operations }, shape)).toThrow("can only compare value");
  const emails = { kept: ["emails"], lists: ["emails"], ignored: [] };
  const before = {
    emails: [
      { type: "work", value: "a@acme.test" },
      { type: "home", value: "b@acme.test" },
    ],
  };
  const move = [{ op: "replace", path: 'emails[type eq "work"].value', value: "c@acme.test" }];
  expect(applyPatch(before, { Operations: move }, emails)).toEqual({
    emails: [
      { type: "work", value: "c@acme.test" },
      { type: "home", value: "b@acme.test" },
    ],
  });
});
