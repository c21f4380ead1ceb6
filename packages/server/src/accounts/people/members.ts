import type { Client, Pool, Queryable } from "../../db/pool.ts";
import { type Actor, consoleActor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { hashToken, newToken } from "../sessions/session-store.ts";
import { linkUrl } from "./login-links.ts";
import { parseEmail, type Role, type User, userColumns } from "./user.ts";

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  createdBy: string | null;
  expiresAt: Date;
}

export async function listMembers(db: Queryable): Promise<readonly User[]> {
  const { rows } = await db.query<User>(`select ${userColumns} from users order by lower(email) limit 1000`);
  return rows;
}

/** Pending invitations. */
export async function listInvitations(db: Queryable): Promise<readonly Invitation[]> {
  const { rows } = await db.query<Invitation>(
    `select encode(token_hash, 'hex') as id, email, role, created_by as "createdBy", expires_at as "expiresAt"
     from login_links where purpose = 'invite' and used_at is null and expires_at > clock_timestamp()
     order by created_at desc limit 1000`,
  );
  return rows;
}

export async function findMember(db: Queryable, id: string): Promise<User | null> {
  const { rows } = await db.query<User>(`select ${userColumns} from users where id = $1`, [id]);
  return rows[0] ?? null;
}

const inviteDays = 7;

/** A link to join, shown once and passed on by hand. A second one replaces the first. */
export async function inviteMember(
  deps: { pool: Pool; publicUrl: string },
  input: { email: string; role: Role },
  actor: Actor,
): Promise<{ link: string }> {
  const email = parseEmail(input.email);
  const token = newToken();
  await inTransactionAs(deps.pool, actor, async (client) => {
    await holdInviter(client, actor);
    const { rowCount } = await client.query("select from users where lower(email) = $1", [email]);
    if (rowCount !== 0) throw new AppError("conflict", { publicMessage: `${email} is a member already.` });
    await client.query("delete from login_links where purpose = 'invite' and lower(email) = $1 and used_at is null", [
      email,
    ]);
    await client.query(
      `insert into login_links (token_hash, lands_on, expires_at, purpose, email, role, created_by)
       values ($1, '/app', clock_timestamp() + make_interval(days => $2), 'invite', $3, $4, $5)`,
      [hashToken(token), inviteDays, email, input.role, actor.name],
    );
  });
  return { link: linkUrl(deps.publicUrl, token) };
}

/** Prevents an invitation by somebody who is being removed or demoted right now. */
async function holdInviter(client: Client, actor: Actor): Promise<void> {
  if (actor.name === consoleActor.name) return;
  const { rowCount } = await client.query("select from users where email = $1 and role = 'owner' for key share", [
    actor.name,
  ]);
  if (rowCount === 0) throw new AppError("forbidden", { publicMessage: "Only an owner can invite members." });
}

/** False if it does not exist or was accepted. */
export async function revokeInvitation(pool: Pool, id: string, actor: Actor): Promise<boolean> {
  return inTransactionAs(pool, actor, async (client) => {
    const { rowCount } = await client.query(
      "delete from login_links where purpose = 'invite' and used_at is null and encode(token_hash, 'hex') = $1",
      [id],
    );
    return rowCount === 1;
  });
}

/**
 * The person's sessions get the new role with their next request. Demoting an owner revokes their pending invitations.
 */
export async function changeRole(pool: Pool, input: { id: string; role: Role }, actor: Actor): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    const { email } = await holdMember(client, input.id, { staysOwner: input.role === "owner", by: actor });
    await refuseRoleOfGroup(client, input.id);
    if (input.role !== "owner") await dropInvitationsBy(client, email);
    await client.query("update users set role = $2 where id = $1", [input.id, input.role]);
  });
}

/** The directory would set it again. */
async function refuseRoleOfGroup(client: Client, id: string): Promise<void> {
  const { rowCount } = await client.query("select from directory_users where user_id = $1 and role_by_group", [id]);
  if (rowCount === 0) return;
  throw new AppError("conflict", {
    publicMessage: "A group of the directory gives this role. Change the person's groups there, or the group's role.",
  });
}

/**
 * Removes a person with their sessions, and all links for them or by them. The database remembers the removal, so
 * single sign-on does not admit them by domain again.
 */
export async function removeMember(pool: Pool, id: string, actor: Actor): Promise<void> {
  await inTransactionAs(pool, actor, (client) => removeMemberRows(client, id, actor));
}

export async function removeMemberRows(client: Client, id: string, actor: Actor): Promise<void> {
  const member = await holdMember(client, id, { staysOwner: false, by: actor });
  // Until the directory activates them again.
  await client.query("update directory_users set active = false where user_id = $1", [id]);
  await removeMemberUnchecked(client, member);
}

/** Reviews and the like, which name a member by their address in lower case. */
export const rowsByAddress = [
  ["local_reviews", "reviewer"],
  ["viewed_files", "viewer"],
  ["inbox_dismissals", "person"],
] as const;

/** Without the check that an owner asks and that one remains, which the caller has made. */
export async function removeMemberUnchecked(
  client: Client,
  { id, email }: { id: string; email: string },
): Promise<void> {
  await dropInvitationsBy(client, email);
  // A pending invitation for their address would let them back in.
  await client.query("delete from login_links where purpose = 'invite' and used_at is null and lower(email) = $1", [
    email.toLowerCase(),
  ]);
  for (const [table, column] of rowsByAddress) {
    await client.query(`delete from ${table} where ${column} = lower($1)`, [email]);
  }
  await client.query("delete from users where id = $1", [id]);
}

interface Member {
  id: string;
  email: string;
  role: Role;
}

/**
 * Locks all owners together: two who remove each other must not leave none, and somebody who was removed or demoted
 * meanwhile can change nobody.
 */
async function holdMember(client: Client, id: string, change: { staysOwner: boolean; by: Actor }): Promise<Member> {
  const { rows } = await client.query<Member>(
    "select id, email, role from users where role = 'owner' or id = $1 order by id for update",
    [id],
  );
  const member = rows.find((row) => row.id === id);
  if (!member) throw new AppError("not_found", { publicMessage: "Member not found." });
  const owners = rows.filter(({ role }) => role === "owner");
  if (change.by.name !== consoleActor.name && !owners.some(({ email }) => email === change.by.name)) {
    throw new AppError("forbidden", { publicMessage: "Only an owner can change members." });
  }
  if (member.role === "owner" && !change.staysOwner && owners.length === 1) {
    throw new AppError("conflict", {
      publicMessage: "You can't remove or demote the last owner. Make another member an owner first.",
    });
  }
  return member;
}

/** A link that they passed on would use a permission that they no longer have. */
export async function dropInvitationsBy(client: Client, email: string): Promise<void> {
  await client.query("delete from login_links where purpose = 'invite' and used_at is null and created_by = $1", [
    email,
  ]);
}
