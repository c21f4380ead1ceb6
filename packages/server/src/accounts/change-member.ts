import { type Actor, consoleActor, inTransactionAs } from "../db/acting.ts";
import type { Client, Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { Role } from "./user.ts";

/** Their sessions have the new role from their next request on; who is no owner any more has invited nobody. */
export async function changeRole(pool: Pool, input: { id: string; role: Role }, actor: Actor): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    const { email } = await holdMember(client, input.id, { staysOwner: input.role === "owner", by: actor });
    if (input.role !== "owner") await dropInvitationsBy(client, email);
    await client.query("update users set role = $2 where id = $1", [input.id, input.role]);
  });
}

/**
 * Their sessions end with them, and no link made for them, or by them, works any more. The database remembers them:
 * single sign-on admits nobody by domain who was removed.
 */
export async function removeMember(pool: Pool, id: string, actor: Actor): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    const { email } = await holdMember(client, id, { staysOwner: false, by: actor });
    await dropInvitationsBy(client, email);
    // One that was open for their own address would bring them back.
    await client.query("delete from login_links where purpose = 'invite' and used_at is null and lower(email) = $1", [
      email.toLowerCase(),
    ]);
    await client.query("delete from users where id = $1", [id]);
  });
}

interface Member {
  id: string;
  email: string;
  role: Role;
}

/**
 * Owners are locked together: two who remove each other at once must not leave none, and whoever was removed or demoted
 * meanwhile changes nobody any more.
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

/** A link that they passed on, or kept, would let somebody in by a right that they no longer have. */
async function dropInvitationsBy(client: Client, email: string): Promise<void> {
  await client.query("delete from login_links where purpose = 'invite' and used_at is null and created_by = $1", [
    email,
  ]);
}
