import { actAs } from "../../db/acting.ts";
import type { Client, Pool } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import type { Passwords } from "../sessions/passwords.ts";
import { openSession } from "../sessions/session-store.ts";
import { findLink, hasOwner, type Link, spendLink, spendResetLinks } from "./login-links.ts";
import { parseEmail, parseName, parsePassword, type Role } from "./user.ts";

interface Acceptance {
  token: string;
  /** Required if the link does not contain it. */
  email?: string;
  name?: string;
  password: string;
  address: string;
  replaces: string | null;
}

export type AcceptOutcome = { kind: "accepted"; sessionToken: string } | { kind: "gone" };

/**
 * Creates the owner, accepts an invitation or sets a new password. Uses the link, changes the person and opens the
 * session in one transaction, so that only one of two holders of the same link succeeds.
 */
export async function acceptLink(
  deps: { pool: Pool; passwords: Passwords },
  input: Acceptance,
): Promise<AcceptOutcome> {
  // Validated first: a refusal, or a slow hash, must not use up the link.
  const offered = await findLink(deps.pool, input.token);
  if (!offered || offered.purpose === "login") return { kind: "gone" };
  const email = offered.purpose === "owner" ? parseEmail(input.email ?? "") : offered.email;
  const name = offered.purpose === "reset" ? "" : parseName(input.name ?? "");
  const passwordHash = await deps.passwords.hash(parsePassword(input.password, email));

  return inTransaction(deps.pool, async (client) => {
    await actAs(client, { name: email, address: input.address });
    // Of two with different links for one person, the second waits here and finds its link used.
    if (offered.purpose === "reset") {
      await client.query("select from users where id = $1 for no key update", [offered.userId]);
    }
    const link = await spendLink(client, input.token);
    if (!link || link.purpose === "login") return { kind: "gone" };
    const userId = await settle(client, link, { email, name, passwordHash });
    if (userId === null) return { kind: "gone" };
    const session = { userId, how: "link", address: input.address, replaces: input.replaces } as const;
    return { kind: "accepted", sessionToken: await openSession(client, session) };
  });
}

interface Person {
  email: string;
  name: string;
  passwordHash: string;
}

/** The person's id. Null if the link no longer applies. */
async function settle(client: Client, link: Exclude<Link, { purpose: "login" }>, person: Person) {
  switch (link.purpose) {
    case "owner":
      // Makes sure that only one person becomes the first owner.
      await client.query("lock table users in share row exclusive mode");
      return (await hasOwner(client)) ? null : insertUser(client, person, "owner");
    case "invite":
      return insertUser(client, person, link.role);
    case "reset":
      await client.query("update users set password_hash = $2 where id = $1", [link.userId, person.passwordHash]);
      await spendResetLinks(client, link.userId);
      // Logs out everybody who knew the old password.
      await client.query("delete from sessions where user_id = $1", [link.userId]);
      return link.userId;
  }
}

async function insertUser(client: Client, { email, name, passwordHash }: Person, role: Role): Promise<string> {
  const id = newId("usr");
  const { rowCount } = await client.query(
    `insert into users (id, email, name, role, password_hash) values ($1, $2, $3, $4, $5)
     on conflict (lower(email)) do nothing`,
    [id, email, name, role, passwordHash],
  );
  if (rowCount === 1) return id;
  throw new AppError("conflict", { publicMessage: `${email} is a member already.` });
}
