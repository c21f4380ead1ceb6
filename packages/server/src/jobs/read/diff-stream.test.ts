import { buffer, text } from "node:stream/consumers";
import { deflateSync } from "node:zlib";
import { acquireForResponse, createKeyedSemaphore } from "@emend/base/locks.ts";
import { expect, it } from "vitest";
import type { Queryable } from "../../db/pool.ts";
import { newId } from "../../lib/id.ts";
import { diffFiles, diffJson, diffText, openDiff } from "./diff.ts";

const patch = `diff --git a/é.md b/é.md
new file mode 100644
--- /dev/null
+++ b/é.md
@@ -0,0 +1,2 @@
+"quoted" \\ 😀 ${"é😀".repeat(40_000)}
+b
diff --git a/b.md b/b.md
--- a/b.md
+++ b/b.md
@@ -1 +1 @@
-old
+${"new ".repeat(100_000)}
`;

it("a diff that is sent piece by piece is the same, as text and as JSON", async () => {
  const deflated = deflateSync(patch);
  expect((await buffer(diffText(deflated))).toString()).toBe(patch);
  expect(JSON.parse(await text(diffJson(deflated)))).toEqual({ diff: patch, files: diffFiles(patch) });
  expect(diffFiles(patch)).toMatchObject([
    { path: "é.md", change: "added", additions: 2 },
    { path: "b.md", additions: 1, deletions: 1 },
  ]);
  expect(await text(diffJson(null))).toBe('{"diff":"","files":[]}');
});

it("no more of a diff is made than its reader takes", async () => {
  const stream = diffJson(deflateSync(Buffer.alloc(64 * 2 ** 20, "+a\n")));
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > 100_000) break;
  }
  expect(stream.readableLength).toBeLessThan(1_000_000);
  expect(stream.destroyed).toBe(true);
});

it("a large diff is read only once there is a seat for it", async () => {
  const asked: string[] = [];
  const sizes: Record<string, number> = { large: 1_000_000, small: 1_000 };
  const db = (size: string) =>
    ({
      async query(words: string) {
        asked.push(words.includes("octet_length") ? "size" : "diff");
        return { rows: [{ bytes: sizes[size], diff: null }] };
      },
    }) as unknown as Queryable;
  const job = { id: newId("job"), projectId: "prj_1" };
  expect(await openDiff(db("large"), job, () => false)).toEqual({ kind: "busy" });
  expect(asked).toEqual(["size"]);
  expect(await openDiff(db("small"), job, () => false)).toEqual({ kind: "opened", deflated: null });
  expect(await openDiff(db("large"), job, () => true)).toEqual({ kind: "opened", deflated: null });

  const seats = createKeyedSemaphore({ perHolderMax: 1, allMax: 2 });
  const listeners = new Map<string, () => void>();
  const response = { once: (name: string, listener: () => void) => listeners.set(name, listener) && response };
  const take = acquireForResponse(seats, "a", response as never);
  expect([take(), take()]).toEqual([true, false]);
  listeners.get("close")?.();
  expect(take()).toBe(true);
});
