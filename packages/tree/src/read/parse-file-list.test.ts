import { describe, expect, it } from "vitest";
import { parseFileList } from "./diff.ts";

describe("a diff's list of files", () => {
  it("takes names as they are: renames, binaries, tabs and colons in them", () => {
    const output = [
      ":100644 100644 aaa bbb M\0:odd\tname.md\0",
      ":100644 100644 aaa bbb R090\0old.md\0new.md\0",
      ":000000 100644 000 bbb A\0logo.png\0",
      ":100644 000000 aaa 000 D\0gone.md\0",
      "1\t2\t:odd\tname.md\0",
      "3\t4\t\0old.md\0new.md\0",
      "-\t-\tlogo.png\0",
      "0\t9\tgone.md\0",
    ].join("");
    expect(parseFileList(output)).toMatchObject([
      { status: "modified", path: ":odd\tname.md", pathBefore: null, added: 1, deleted: 2 },
      { status: "renamed", path: "new.md", pathBefore: "old.md", added: 3, deleted: 4 },
      { status: "added", path: "logo.png", pathBefore: null, added: null, deleted: null },
      { status: "deleted", path: "gone.md", pathBefore: null, added: 0, deleted: 9 },
    ]);
    expect(parseFileList(":100644 100755 aaa bbb M\0run.sh\0")).toEqual([
      { status: "modified", path: "run.sh", pathBefore: null, mode: "100755", oid: "bbb", added: null, deleted: null },
    ]);
  });
});
