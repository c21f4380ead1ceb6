import { channels } from "../../db/listener.ts";
import type { Client, Pool, Queryable } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { dropInvitationsBy, removeMemberUnchecked, rowsByAddress } from "../people/members.ts";
import { isAtLeast, type Role } from "../people/user.ts";
import { type DirectorySettings, readDirectorySettings, storeDirectorySettings } from "./directory-settings.ts";

/**
 * Runs a change of the directory. One at a time, because roles follow from all groups together. A change that would
 * leave no owner is refused as a whole.
 */
export async function changeDirectory<T>(pool: Pool, actor: Actor, work: (client: Client) => Promise<T>): Promise<T> {
  return inTransactionAs(pool, actor, async (client) => {
    await client.query("select pg_advisory_xact_lock(hashtextextended('emend directory', 0))");
    const owners = await client.query("select from users where role = 'owner' order by id for update");
    const result = await work(client);
    if (owners.rowCount !== 0) await refuseWithoutOwner(client);
    return result;
  });
}

async function refuseWithoutOwner(client: Client): Promise<void> {
  const { rowCount } = await client.query("select from users where role = 'owner' limit 1");
  if (rowCount !== 0) return;
  throw new AppError("conflict", {
    publicMessage:
      "This would remove or demote the last owner, so nothing was changed. Make another member an owner in Emend first.",
  });
}

/** Changes which groups give which role, for everybody at once. */
export async function setDirectorySettings(pool: Pool, settings: DirectorySettings, actor: Actor): Promise<void> {
  await changeDirectory(pool, actor, async (client) => {
    await storeDirectorySettings(client, settings);
    await settleAccess(client, null);
  });
}

/** People of the directory who have no access, because another member has their address. */
export async function listWaiting(db: Queryable): Promise<readonly { id: string; email: string; role: Role }[]> {
  const { rows } = await db.query<{ id: string; email: string; role: Role }>(
    `select people.id, users.email, users.role from directory_users people
       join users on lower(users.email) = lower(people.email)
     where people.user_id is null and people.active order by lower(users.email) limit 1000`,
  );
  return rows;
}

/** An owner's yes: from now on the directory changes this member, and ends their access. `email` is what the owner saw. */
export async function connectMember(
  pool: Pool,
  { id, email }: { id: string; email: string },
  by: Actor,
): Promise<void> {
  await changeDirectory(pool, by, async (client) => {
    const { rowCount } = await client.query(
      `update directory_users people set user_id = users.id from users
       where people.id = $1 and people.user_id is null and people.active
         and lower(people.email) = lower(users.email) and users.email = $2`,
      [id, email],
    );
    if (rowCount === 0)
      throw new AppError("not_found", { publicMessage: "This person no longer waits. Reload the page." });
    await settleAccess(client, [id]);
  });
}

interface Entry {
  id: string;
  active: boolean;
  email: string;
  name: string;
  roleByGroup: boolean;
  member: { id: string; email: string; name: string; role: Role; identity: string | null } | null;
  groups: readonly string[];
}

/** Gives the directory's people the access that they should have, or ends it. Null: all of them. */
export async function settleAccess(client: Client, ids: readonly string[] | null): Promise<void> {
  const settings = await readDirectorySettings(client);
  for (const entry of await readEntries(client, ids)) {
    const byGroup = roleOfGroups(settings, entry.groups);
    const ownRole = entry.roleByGroup ? null : (entry.member?.role ?? null);
    const given = byGroup ?? settings.defaultRole;
    const role = entry.active ? (byGroup ?? ownRole ?? settings.defaultRole) : null;
    const userId = role === null ? await endAccess(client, entry) : await giveAccess(client, entry, { role, given });
    await client.query("update directory_users set user_id = $2, role_by_group = $3 where id = $1", [
      entry.id,
      userId,
      userId !== null && byGroup !== null,
    ]);
  }
}

/** With the member that the directory created, or that an owner connected: never whoever has the same address. */
async function readEntries(client: Client, ids: readonly string[] | null): Promise<readonly Entry[]> {
  const { rows } = await client.query<Entry>(
    `select people.id, people.active, people.email, people.name, people.role_by_group as "roleByGroup",
       case when users.id is not null
         then jsonb_build_object('id', users.id, 'email', users.email, 'name', users.name, 'role', users.role,
           'identity', users.identity)
       end as member,
       array(
         select lower(display_name) from directory_groups groups
           join directory_group_members members on members.group_id = groups.id
         where members.user_id = people.id
       ) as groups
     from directory_users people
       left join users on users.id = people.user_id
     where $1::text[] is null or people.id = any ($1)
     order by people.id`,
    [ids],
  );
  return rows;
}

function roleOfGroups({ groups }: DirectorySettings, names: readonly string[]): Role | null {
  const given = groups.filter(({ name }) => names.includes(name.toLowerCase()));
  return given.reduce<Role | null>((best, { role }) => (best && isAtLeast(best, role) ? best : role), null);
}

/** Null: another member has the address already. An owner can connect the two. */
async function giveAccess(
  client: Client,
  entry: Entry,
  { role, given }: { role: Role; given: Role | null },
): Promise<string | null> {
  const { member } = entry;
  if (!member) {
    const { rows } = await client.query<{ id: string }>(
      "insert into users (id, email, name, role) values ($1, $2, $3, $4) on conflict do nothing returning id",
      [newId("usr"), entry.email, entry.name, role],
    );
    return rows[0]?.id ?? null;
  }
  if (member.email.toLowerCase() !== entry.email) {
    refuseGainByAddress(member, given);
    await changeAddress(client, member, entry.email);
  }
  if (member.name !== entry.name)
    await client.query("update users set name = $2 where id = $1", [member.id, entry.name]);
  if (member.role !== role) {
    // First, so that the row's lock orders this and a key that the person creates right now.
    await client.query("update users set role = $2 where id = $1", [member.id, role]);
    if (!isAtLeast(role, "owner")) await dropInvitationsBy(client, entry.email);
    if (!isAtLeast(role, "maintainer")) await revokeKeysBy(client, entry.email);
  }
  return member.id;
}

/** Who never used single sign-on is known by their address alone: whoever logs in with the new one gets their role. */
function refuseGainByAddress({ identity, role }: NonNullable<Entry["member"]>, given: Role | null): void {
  if (identity !== null || (given !== null && isAtLeast(given, role))) return;
  throw new AppError("conflict", {
    publicMessage:
      "An owner gave this person their role, so the directory cannot change their email address before they have " +
      "logged in by single sign-on.",
  });
}

/** Null: there is no member any more. */
async function endAccess(client: Client, { member, email }: Entry): Promise<null> {
  if (member) {
    await removeMemberUnchecked(client, member);
    await revokeKeysBy(client, member.email);
  }
  // Single sign-on must not let them in by their domain, nor an earlier invitation.
  await client.query("delete from login_links where purpose = 'invite' and used_at is null and lower(email) = $1", [
    email,
  ]);
  await client.query(
    "insert into removed_members (email) values ($1) on conflict (email) do update set removed_at = clock_timestamp()",
    [email],
  );
  return null;
}

/** What a person made stays theirs. */
async function changeAddress(client: Client, member: { id: string; email: string }, email: string): Promise<void> {
  const taken = await client.query("select from users where lower(email) = $1 and id <> $2", [email, member.id]);
  if (taken.rowCount !== 0) throw new AppError("conflict", { publicMessage: "Another member has this email address." });
  await client.query("update users set email = $2 where id = $1", [member.id, email]);
  for (const [table, column] of [
    ["admin_keys", "created_by"],
    ["login_links", "created_by"],
  ]) {
    await client.query(`update ${table} set ${column} = $2 where ${column} = $1`, [member.email, email]);
  }
  // Otherwise, who gets the old address next would get their approvals with it.
  for (const [table, column] of rowsByAddress) {
    await client.query(`delete from ${table} where ${column} = $1`, [email]);
    await client.query(`update ${table} set ${column} = $2 where ${column} = lower($1)`, [member.email, email]);
  }
}

/** Keys that the person made, on every node within a second. */
async function revokeKeysBy(client: Client, email: string): Promise<void> {
  await client.query(
    `with revoked as (
       update admin_keys set revoked_at = clock_timestamp()
       where lower(created_by) = lower($1) and revoked_at is null returning id
     )
     select pg_notify('${channels.keyChanged}', id) from revoked`,
    [email],
  );
}
