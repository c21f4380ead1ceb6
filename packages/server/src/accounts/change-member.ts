import { type Actor, inTransactionAs } from "../db/acting.ts";
import type { Client, Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { Role } from "./user.ts";

/** Their sessions have the new role from their next request on. */
export async function changeRole(pool: Pool, input: { id: string; role: Role }, actor: Actor): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    await holdMember(client, input.id, { staysOwner: input.role === "owner" });
    await client.query("update users set role = $2 where id = $1", [input.id, input.role]);
  });
}

/** Their sessions end with them, and no link made for them works any more. */
export async function removeMember(pool: Pool, id: string, actor: Actor): Promise<void> {
  await inTransactionAs(pool, actor, async (client) => {
    await holdMember(client, id, { staysOwner: false });
    await client.query("delete from users where id = $1", [id]);
  });
}

/** Owners are locked together: two who remove each other at once must not leave none. */
async function holdMember(client: Client, id: string, change: { staysOwner: boolean }): Promise<void> {
  const { rows } = await client.query<{ id: string; role: Role }>(
    "select id, role from users where role = 'owner' or id = $1 order by id for update",
    [id],
  );
  const member = rows.find((row) => row.id === id);
  if (!member) throw new AppError("not_found", { publicMessage: "There is no such member." });
  const owners = rows.filter(({ role }) => role === "owner");
  if (member.role === "owner" && !change.staysOwner && owners.length === 1) {
    throw new AppError("conflict", { publicMessage: "The last owner stays one: make somebody else an owner first." });
  }
}
