import { type Actor, consoleActor, inTransactionAs } from "../db/acting.ts";
import type { Client, Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { linkUrl } from "./links.ts";
import { parseEmail } from "./member-words.ts";
import { hashToken, newToken } from "./session-store.ts";
import type { Role } from "./user.ts";

const inviteDays = 7;

/** A link by which one person joins; it is shown once, to be passed on by hand. A second one replaces the first. */
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

/** Whoever is being removed or demoted just now must not leave an invitation behind. */
async function holdInviter(client: Client, actor: Actor): Promise<void> {
  if (actor.name === consoleActor.name) return;
  const { rowCount } = await client.query("select from users where email = $1 and role = 'owner' for key share", [
    actor.name,
  ]);
  if (rowCount === 0) throw new AppError("forbidden", { publicMessage: "Only an owner can invite members." });
}

/** False where there is none, or somebody has accepted it. */
export async function revokeInvitation(pool: Pool, id: string, actor: Actor): Promise<boolean> {
  return inTransactionAs(pool, actor, async (client) => {
    const { rowCount } = await client.query(
      "delete from login_links where purpose = 'invite' and used_at is null and encode(token_hash, 'hex') = $1",
      [id],
    );
    return rowCount === 1;
  });
}
