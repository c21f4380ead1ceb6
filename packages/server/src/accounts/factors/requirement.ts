import type { Pool, Queryable } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";

/** An installation's setting: whoever logs in with a password needs a second factor. */

const settingName = "secondFactorRequired";

/** SQL: whether it is on. */
const isRequired = `exists (select from settings where name = '${settingName}' and value = 'true')`;

/** SQL: whether a person has a second factor. `user` is an expression. */
export const hasFactorSql = (user: string) =>
  `(exists (select from authenticator_apps where user_id = ${user})
    or exists (select from passkeys where user_id = ${user}))`;

/**
 * SQL: whether a row of `sessions` may be used. Asked with every request, so that the setting ends sessions at once, on
 * every node, also those that open at the same time. After single sign-on, the identity provider decides.
 */
export const sessionCounts = `(sessions.user_id is null or opened_by = 'single sign-on' or not ${isRequired}
  or ${hasFactorSql("sessions.user_id")})`;

export async function hasFactor(db: Queryable, userId: string): Promise<boolean> {
  const { rows } = await db.query<{ has: boolean }>(`select ${hasFactorSql("$1")} as has`, [userId]);
  return rows[0]?.has ?? false;
}

export async function isFactorRequired(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ is: boolean }>(`select ${isRequired} as is`);
  return rows[0]?.is ?? false;
}

/** The setting, and how many people with a password have no second factor. */
export async function readRequirement(db: Queryable): Promise<{ required: boolean; membersWithout: number }> {
  const { rows } = await db.query<{ membersWithout: number }>(
    `select count(*)::int as "membersWithout" from users
     where password_hash is not null and not ${hasFactorSql("users.id")}`,
  );
  return { required: await isFactorRequired(db), membersWithout: rows[0]?.membersWithout ?? 0 };
}

/** Owners who would end their own session with it are refused. */
export async function setFactorRequired(
  pool: Pool,
  input: { required: boolean; by: { userId: string | null; how: string | null } },
  actor: Actor,
): Promise<void> {
  const { required, by } = input;
  await inTransactionAs(pool, actor, async (client) => {
    const isAsked = by.userId !== null && by.how !== "single sign-on";
    if (required && isAsked && !(await hasFactor(client, by.userId ?? ""))) {
      throw new AppError("conflict", {
        publicMessage:
          "Set up a second factor for yourself first, under Settings → Account. Then require it of everybody.",
      });
    }
    // Otherwise the sessions that it ended would count again.
    if (!required) await client.query(`delete from sessions where not ${sessionCounts}`);
    await client.query(
      `insert into settings (name, value) values ($1, $2)
       on conflict (name) do update set value = excluded.value, updated_at = clock_timestamp()
       where settings.value <> excluded.value`,
      [settingName, JSON.stringify(required)],
    );
  });
}
