import { type Static, Type } from "typebox";
import { type ApiClient, listPages } from "../api-client.ts";

export const Note = Type.Object({
  id: Type.Integer(),
  body: Type.String(),
  system: Type.Boolean(),
  author: Type.Object({ username: Type.String() }),
  created_at: Type.String(),
  /** GitLab before 15.5 says `confidential`. */
  internal: Type.Optional(Type.Boolean()),
  confidential: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  position: Type.Optional(
    Type.Object({
      new_path: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      new_line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      old_path: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      old_line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    }),
  ),
});
export type GitlabNote = Static<typeof Note>;
const pagesMax = 10;

/**
 * The newest thousand comments that everybody with access to the project can read, oldest first. Internal notes are left
 * out, because what Emend does with a comment is public. `all_notes`: also what GitLab itself notes, as `system`.
 */
export async function listNotes(
  api: ApiClient,
  { path, what, activity }: { path: string; what: string; activity: "all_notes" | "only_comments" },
  signal: AbortSignal,
): Promise<readonly GitlabNote[]> {
  const query = { order_by: "created_at", sort: "desc", activity_filter: activity };
  const page = { sizeName: "per_page", pageSize: 100 } as const;
  const listed = await listPages(api, { ...page, path, query, item: Note, what }, pagesMax, signal);
  // A note that is written meanwhile moves others to the next page, where they are read again.
  const notes = [...new Map(listed.map((note) => [note.id, note])).values()].toReversed();
  return notes.filter(({ internal, confidential }) => !internal && !confidential);
}
