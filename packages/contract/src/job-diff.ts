import { type Static, Type } from "typebox";

/** What a job changed: the unified diff, and its files with their figures. */
export const JobDiff = Type.Object(
  {
    diff: Type.String({ description: "A unified diff in git's format; empty if nothing changed." }),
    files: Type.Array(
      Type.Object(
        {
          path: Type.String({ description: "The path after the change; for a deleted file, the path before it." }),
          change: Type.Enum(["added", "modified", "deleted", "renamed"] as const, { type: "string" }),
          additions: Type.Integer({ minimum: 0 }),
          deletions: Type.Integer({ minimum: 0 }),
          from: Type.Optional(Type.String({ description: "The path before the change, of a renamed file." })),
        },
        { additionalProperties: false },
      ),
    ),
  },
  {
    additionalProperties: false,
    $id: "JobDiff",
    examples: [
      {
        diff: "diff --git a/index.mdx b/index.mdx\n--- a/index.mdx\n+++ b/index.mdx\n@@ -1 +1 @@\n-Sign in\n+Log in\n",
        files: [{ path: "index.mdx", change: "modified", additions: 1, deletions: 1 }],
      },
    ],
  },
);
export type JobDiff = Static<typeof JobDiff>;
