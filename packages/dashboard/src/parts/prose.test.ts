import { expect, it } from "vitest";
import { readBlocks } from "./prose.tsx";

it("a summary's headings, lists and code are read as such", () => {
  const text = "## What\nIt is **new**.\n\n- one\n  and more\n- [x] two\n1. first\n\n```sh\n# no heading\n```\nEnd.";
  expect(readBlocks(text)).toEqual([
    { kind: "heading", text: "What" },
    { kind: "text", text: "It is **new**." },
    { kind: "list", isOrdered: false, items: ["one and more", "☑ two"] },
    { kind: "list", isOrdered: true, items: ["first"] },
    { kind: "code", text: "# no heading" },
    { kind: "text", text: "End." },
  ]);
});
