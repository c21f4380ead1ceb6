import { expect, test } from "vitest";
import { addPictureTool } from "./add-picture.ts";
import type { ToolContext } from "./tool.ts";

test("writes an attached picture as it is, and nothing that was not attached", async () => {
  const files = new Map<string, Buffer>([["images/logo.png", Buffer.from("old")]]);
  const picture = Buffer.from([0x89, 0x50, 0xff, 0x00]);
  const context = {
    overlay: {
      read: async (path: string) => files.get(path) ?? null,
      set: async (path: string, bytes: Buffer) => void files.set(path, bytes),
    },
    attachments: [
      { id: "upl_1", name: "a.png", type: "image/png", picture, text: null },
      { id: "upl_2", name: "b.pdf", type: "application/pdf", picture: null, text: "words" },
    ],
    refusePath: (path: string) => (path.startsWith(".github/") ? "CI settings are not changed by jobs" : null),
  } as unknown as ToolContext;
  const add = async (id: string, path: string) => {
    const answer = await addPictureTool.run(context, { id, path }, new AbortController().signal);
    return answer.kind === "refused" ? `refused: ${answer.reason}` : answer.text;
  };
  expect(await add("upl_1", "images/a.png")).toBe("added images/a.png");
  expect(files.get("images/a.png")).toEqual(picture);
  expect(await add("upl_1", "images/logo.png")).toBe("replaced images/logo.png");
  expect(await add("upl_2", "b.png")).toMatch("there are: upl_1");
  expect(await add("upl_3", "b.png")).toMatch("no attached picture");
  expect(await add("upl_1", "a.svg")).toMatch("the ending of that type");
  expect(await add("upl_1", ".github/a.png")).toMatch("CI settings");
  expect([...files.keys()]).toEqual(["images/logo.png", "images/a.png"]);
});
