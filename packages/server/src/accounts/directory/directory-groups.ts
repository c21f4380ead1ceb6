import type { Client, Pool, Queryable } from "../../db/pool.ts";
import type { Actor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { changeDirectory, settleAccess } from "./directory-access.ts";
import { type Page, type PageAsked, readPage } from "./directory-page.ts";
import { ScimFault } from "./scim-fault.ts";
import { applyPatch, fieldOf, isRecord, type PatchShape } from "./scim-patch.ts";
import { readText } from "./scim-user.ts";

/** A group of the directory. Which role it gives is in the settings. */
export interface DirectoryGroup {
  id: string;
  displayName: string;
  externalId: string | null;
  members: readonly { value: string; display: string }[];
  createdAt: Date;
  updatedAt: Date;
}

const columns = `id, display_name as "displayName", external_id as "externalId", created_at as "createdAt",
  updated_at as "updatedAt",
  coalesce((
    select jsonb_agg(jsonb_build_object('value', people.id, 'display', people.user_name) order by people.id)
    from directory_group_members members join directory_users people on people.id = members.user_id
    where members.group_id = directory_groups.id
  ), '[]') as members`;

const filters: Readonly<Record<string, string>> = {
  displayName: "lower(display_name) = lower($1)",
  externalId: "external_id = $1",
  id: "id = $1",
};
export const groupFilters = Object.keys(filters);

const shape: PatchShape = {
  kept: ["displayName", "externalId", "members"],
  lists: ["members"],
  ignored: ["id", "schemas", "meta"],
};
const membersMax = 20_000;

interface Group {
  displayName: string;
  externalId: string | null;
  /** Ids. */
  members: readonly string[];
}

export async function listDirectoryGroups(db: Queryable, asked: PageAsked): Promise<Page<DirectoryGroup>> {
  return readPage<DirectoryGroup>(db, { table: "directory_groups", columns, filters }, asked);
}

export async function getDirectoryGroup(db: Queryable, id: string): Promise<DirectoryGroup> {
  const { rows } = await db.query<DirectoryGroup>(`select ${columns} from directory_groups where id = $1`, [id]);
  if (rows[0]) return rows[0];
  throw new AppError("not_found", { publicMessage: "Group not found." });
}

export async function createDirectoryGroup(pool: Pool, body: unknown, actor: Actor): Promise<DirectoryGroup> {
  const group = readGroup(body);
  const id = newId("drg");
  return changeDirectory(pool, actor, async (client) => {
    await refuseTaken(client, id, group);
    await client.query("insert into directory_groups (id, display_name, external_id) values ($1, $2, $3)", [
      id,
      group.displayName,
      group.externalId,
    ]);
    await setMembers(client, id, group.members);
    await settleAccess(client, group.members);
    return getDirectoryGroup(client, id);
  });
}

/** PUT: replaces the name and all members. */
export async function replaceDirectoryGroup(
  pool: Pool,
  { id, body }: { id: string; body: unknown },
  actor: Actor,
): Promise<DirectoryGroup> {
  return updateDirectoryGroup(pool, id, actor, () => readGroup(body));
}

export async function patchDirectoryGroup(
  pool: Pool,
  { id, body }: { id: string; body: unknown },
  actor: Actor,
): Promise<DirectoryGroup> {
  return updateDirectoryGroup(pool, id, actor, ({ displayName, externalId, members }) =>
    readGroup(applyPatch({ displayName, ...(externalId !== null && { externalId }), members }, body, shape)),
  );
}

async function updateDirectoryGroup(
  pool: Pool,
  id: string,
  actor: Actor,
  edit: (before: DirectoryGroup) => Group,
): Promise<DirectoryGroup> {
  return changeDirectory(pool, actor, async (client) => {
    const before = await getDirectoryGroup(client, id);
    const after = edit(before);
    await refuseTaken(client, id, after);
    await client.query(
      "update directory_groups set display_name = $2, external_id = $3, updated_at = clock_timestamp() where id = $1",
      [id, after.displayName, after.externalId],
    );
    await setMembers(client, id, after.members);
    await settleAccess(client, [...new Set([...before.members.map(({ value }) => value), ...after.members])]);
    return getDirectoryGroup(client, id);
  });
}

/** Its members lose the role that it gave. */
export async function deleteDirectoryGroup(pool: Pool, id: string, actor: Actor): Promise<void> {
  await changeDirectory(pool, actor, async (client) => {
    const { members } = await getDirectoryGroup(client, id);
    await client.query("delete from directory_groups where id = $1", [id]);
    await settleAccess(
      client,
      members.map(({ value }) => value),
    );
  });
}

function readGroup(given: unknown): Group {
  if (!isRecord(given)) throw new ScimFault("invalidSyntax", "The body must be a Group.");
  const displayName = readText("displayName", fieldOf(given, "displayName"), 200);
  if (displayName === null) throw new ScimFault("invalidValue", "displayName is required.");
  const members = [fieldOf(given, "members") ?? []].flat();
  if (members.length > membersMax) {
    throw new ScimFault("invalidValue", `A Group can have at most ${membersMax} members.`);
  }
  const ids = members.map((each) => {
    const id = isRecord(each) ? readText("members.value", fieldOf(each, "value"), 200) : null;
    if (id === null) throw new ScimFault("invalidValue", "members must be a list of objects with a value.");
    return id;
  });
  return {
    displayName,
    externalId: readText("externalId", fieldOf(given, "externalId"), 500),
    members: [...new Set(ids)],
  };
}

async function setMembers(client: Client, id: string, members: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    "select asked.id from unnest($1::text[]) asked (id) where not exists (select from directory_users where id = asked.id) limit 1",
    [members],
  );
  if (rows[0]) {
    throw new ScimFault(
      "invalidValue",
      `There is no User with the id ${rows[0].id}. Groups of groups are not supported.`,
    );
  }
  // Joined: comparing each member with each of an array is quadratic.
  await client.query(
    `delete from directory_group_members where group_id = $1
       and not exists (select from unnest($2::text[]) kept (id) where kept.id = user_id)`,
    [id, members],
  );
  await client.query(
    "insert into directory_group_members (group_id, user_id) select $1, unnest($2::text[]) on conflict do nothing",
    [id, members],
  );
}

async function refuseTaken(client: Client, id: string, { displayName }: Group): Promise<void> {
  const { rowCount } = await client.query(
    "select from directory_groups where id <> $1 and lower(display_name) = lower($2)",
    [id, displayName],
  );
  if (rowCount !== 0) throw new ScimFault("uniqueness", "Another Group has this displayName.");
}
