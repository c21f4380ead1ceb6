import type { Pool } from "../../db/pool.ts";
import { consoleActor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { readEmail } from "../people/user.ts";
import { endSessions } from "../sessions/session-store.ts";

/** Removes all of a person's second factors and ends their sessions. For the console: the way back in without a phone. */
export async function resetFactors(pool: Pool, email: string): Promise<{ email: string; removed: number }> {
  return inTransactionAs(pool, consoleActor, async (client) => {
    const { rows } = await client.query<{ id: string; email: string }>(
      "select id, email from users where lower(email) = $1 for no key update",
      [readEmail(email)],
    );
    const person = rows[0];
    if (!person) throw new AppError("not_found", { publicMessage: `no member has the address ${email}` });
    const apps = await client.query("delete from authenticator_apps where user_id = $1", [person.id]);
    const passkeys = await client.query("delete from passkeys where user_id = $1", [person.id]);
    await client.query("delete from recovery_codes where user_id = $1", [person.id]);
    const removed = (apps.rowCount ?? 0) + (passkeys.rowCount ?? 0);
    if (removed === 0) {
      throw new AppError("conflict", {
        publicMessage: `${person.email} has no second factor, so nothing was changed. For a new password: emend user reset ${person.email}`,
      });
    }
    await endSessions(client, person.id);
    return { email: person.email, removed };
  });
}
