import type { Client, Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import type { Role } from "../people/user.ts";

/** Which access the directory's people have. */
export interface DirectorySettings {
  /** Of people whose groups give none. Null: no access. */
  defaultRole: Role | null;
  /** By the groups' names, which are compared without case. The highest role counts. */
  groups: readonly { name: string; role: Role }[];
}

const name = "directory";
const groupsMax = 200;

export async function readDirectorySettings(db: Queryable): Promise<DirectorySettings> {
  const { rows } = await db.query<{ value: DirectorySettings }>("select value from settings where name = $1", [name]);
  return rows[0]?.value ?? { defaultRole: "viewer", groups: [] };
}

/** Stores them. Call `settleAccess` in the same transaction. */
export async function storeDirectorySettings(client: Client, settings: DirectorySettings): Promise<void> {
  const groups = settings.groups.map(({ name: group, role }) => ({ name: group.trim(), role }));
  const names = groups.map((group) => group.name.toLowerCase());
  if (groups.length > groupsMax) throw invalid(`At most ${groupsMax} groups can have a role.`);
  if (names.some((each) => each === "" || each.length > 200))
    throw invalid("A group's name must have 1 to 200 characters.");
  if (new Set(names).size < names.length) throw invalid("Each group can have one role only. Remove the second one.");
  await client.query(
    `insert into settings (name, value) values ($1, $2)
     on conflict (name) do update set value = excluded.value, updated_at = clock_timestamp()`,
    [name, JSON.stringify({ defaultRole: settings.defaultRole, groups })],
  );
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
