import type { Client, Pool, Queryable } from "../../db/pool.ts";
import type { Actor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { changeDirectory, settleAccess } from "./directory-access.ts";
import { type Page, type PageAsked, readPage } from "./directory-page.ts";
import { ScimFault } from "./scim-fault.ts";
import { type Attributes, applyPatch } from "./scim-patch.ts";
import { readScimUser, type ScimUser, userShape } from "./scim-user.ts";

/** A person of the directory. */
export interface DirectoryUser extends ScimUser {
  id: string;
  groups: readonly { value: string; display: string }[];
  createdAt: Date;
  updatedAt: Date;
}

const columns = `id, user_name as "userName", external_id as "externalId", active, email, name, attributes,
  created_at as "createdAt", updated_at as "updatedAt",
  coalesce((
    select jsonb_agg(jsonb_build_object('value', groups.id, 'display', display_name) order by lower(display_name))
    from directory_group_members members join directory_groups groups on groups.id = members.group_id
    where members.user_id = directory_users.id
  ), '[]') as groups`;

/** Attributes of a filter, and how each is compared. */
const filters: Readonly<Record<string, string>> = {
  userName: "lower(user_name) = lower($1)",
  externalId: "external_id = $1",
  id: "id = $1",
};
export const userFilters = Object.keys(filters);

export async function listDirectoryUsers(db: Queryable, asked: PageAsked): Promise<Page<DirectoryUser>> {
  return readPage<DirectoryUser>(db, { table: "directory_users", columns, filters }, asked);
}

/** How many people and groups the directory has, and how many of the people have access. */
export async function countDirectory(
  db: Queryable,
): Promise<{ people: number; members: number; groupNames: readonly string[] }> {
  const { rows } = await db.query<{ people: number; members: number; groupNames: string[] }>(
    `select count(*)::int as people, count(user_id)::int as members,
       array(select display_name from directory_groups order by lower(display_name) limit 1000) as "groupNames"
     from directory_users`,
  );
  return rows[0] ?? { people: 0, members: 0, groupNames: [] };
}

export async function getDirectoryUser(db: Queryable, id: string): Promise<DirectoryUser> {
  const { rows } = await db.query<DirectoryUser>(`select ${columns} from directory_users where id = $1`, [id]);
  if (rows[0]) return rows[0];
  throw new AppError("not_found", { publicMessage: "User not found." });
}

export async function createDirectoryUser(pool: Pool, body: unknown, actor: Actor): Promise<DirectoryUser> {
  const user = readScimUser(body);
  const id = newId("dru");
  return changeDirectory(pool, actor, async (client) => {
    await refuseTaken(client, id, user);
    await client.query(
      `insert into directory_users (id, user_name, external_id, active, email, name, attributes)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [id, user.userName, user.externalId, user.active, user.email, user.name, JSON.stringify(user.attributes)],
    );
    await settleAccess(client, [id]);
    return getDirectoryUser(client, id);
  });
}

/** PUT: replaces all that Emend keeps. */
export async function replaceDirectoryUser(
  pool: Pool,
  { id, body }: { id: string; body: unknown },
  actor: Actor,
): Promise<DirectoryUser> {
  return updateDirectoryUser(pool, id, actor, (before) => readScimUser(body, before.active));
}

export async function patchDirectoryUser(
  pool: Pool,
  { id, body }: { id: string; body: unknown },
  actor: Actor,
): Promise<DirectoryUser> {
  return updateDirectoryUser(pool, id, actor, (before) =>
    readScimUser(applyPatch(attributesOf(before), body, userShape), before.active),
  );
}

async function updateDirectoryUser(
  pool: Pool,
  id: string,
  actor: Actor,
  edit: (before: DirectoryUser) => ScimUser,
): Promise<DirectoryUser> {
  return changeDirectory(pool, actor, async (client) => {
    const after = edit(await getDirectoryUser(client, id));
    await refuseTaken(client, id, after);
    await client.query(
      `update directory_users set user_name = $2, external_id = $3, active = $4, email = $5, name = $6,
         attributes = $7, updated_at = clock_timestamp() where id = $1`,
      [id, after.userName, after.externalId, after.active, after.email, after.name, JSON.stringify(after.attributes)],
    );
    await settleAccess(client, [id]);
    return getDirectoryUser(client, id);
  });
}

/** Ends the person's access, and forgets what the directory said of them. */
export async function deleteDirectoryUser(pool: Pool, id: string, actor: Actor): Promise<void> {
  await changeDirectory(pool, actor, async (client) => {
    await getDirectoryUser(client, id);
    await client.query("update directory_users set active = false where id = $1", [id]);
    await settleAccess(client, [id]);
    await client.query("delete from directory_users where id = $1", [id]);
  });
}

async function refuseTaken(client: Client, id: string, user: ScimUser): Promise<void> {
  const { rows } = await client.query<{ sameName: boolean }>(
    `select lower(user_name) = lower($2) as "sameName" from directory_users
     where id <> $1 and (lower(user_name) = lower($2) or lower(email) = lower($3)) limit 1`,
    [id, user.userName, user.email],
  );
  if (!rows[0]) return;
  throw new ScimFault("uniqueness", `Another User has this ${rows[0].sameName ? "userName" : "email address"}.`);
}

/** As the provider knows the person. */
export function attributesOf({ userName, externalId, active, attributes }: ScimUser): Attributes {
  return { userName, ...(externalId !== null && { externalId }), active, ...attributes };
}
