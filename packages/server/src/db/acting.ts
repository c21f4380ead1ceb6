import type { Client, Pool, Queryable } from "./pool.ts";
import { inTransaction } from "./transaction.ts";

/** Who makes a change, for the audit log: a person's email address, `console`, or a key. */
export interface Actor {
  name: string;
  /** The request's address, or null if there is none. */
  address: string | null;
}

export const consoleActor: Actor = { name: "console", address: null };

/** Runs `work` in one transaction that the audit log attributes to `actor`. */
export async function inTransactionAs<T>(pool: Pool, actor: Actor, work: (client: Client) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    await actAs(client, actor);
    return work(client);
  });
}

/** For the rest of this transaction: the audit log's triggers read the actor. */
export async function actAs(client: Client, actor: Actor): Promise<void> {
  await client.query("select set_config('emend.actor', $1, true), set_config('emend.address', $2, true)", [
    actor.name,
    actor.address ?? "",
  ]);
}

/** For functions that make their change in one query: each is its own transaction, attributed to `actor`. */
export function asActor(pool: Pool, actor: Actor): Queryable {
  const query = (text: string, values?: unknown[]) =>
    inTransactionAs(pool, actor, (client) => client.query(text, values));
  return { query: query as Queryable["query"] };
}
