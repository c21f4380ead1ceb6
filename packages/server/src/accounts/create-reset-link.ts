import { consoleActor, inTransactionAs } from "../db/acting.ts";
import type { Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { linkUrl } from "./links.ts";
import { readEmail } from "./member-words.ts";
import { hashToken, newToken } from "./session-store.ts";

const linkMinutes = 60;

/** A link by which a person sets a new password, once. For the console: many installations send no mail. */
export async function createResetLink(deps: { pool: Pool; publicUrl: string }, email: string): Promise<string> {
  const token = newToken();
  await inTransactionAs(deps.pool, consoleActor, async (client) => {
    const { rowCount } = await client.query(
      `insert into login_links (token_hash, lands_on, expires_at, purpose, user_id, email, created_by)
       select $1, '/app', clock_timestamp() + make_interval(mins => $2), 'reset', id, email, 'console'
       from users where lower(email) = $3`,
      [hashToken(token), linkMinutes, readEmail(email)],
    );
    if (rowCount === 0) throw new AppError("not_found", { publicMessage: `no member has the address ${email}` });
  });
  return linkUrl(deps.publicUrl, token);
}
