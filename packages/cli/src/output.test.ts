import { expect, test } from "vitest";
import { asTyped, shellWord } from "./cli.ts";

test("names commands as a person types them in a checkout", () => {
  expect(asTyped("Next: emend key create --project prj_1, or `emend doctor`.")).toBe(
    "Next: npx emend key create --project prj_1, or `npx emend doctor`.",
  );
  for (const text of ["npx emend key list", "emend: no key", "Emend reads @emend/sdk serve", "emend serves pages"]) {
    expect(asTyped(text)).toBe(text);
  }
});

test("quotes what a shell would take apart", () => {
  expect(shellWord("/tmp/demo-1")).toBe("/tmp/demo-1");
  expect(shellWord("/my docs/it's")).toBe(`'/my docs/it'\\''s'`);
});
