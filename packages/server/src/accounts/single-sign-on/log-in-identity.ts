import type { Client, Pool } from "../../db/pool.ts";
import { inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { hasOwner } from "../people/login-links.ts";
import { parseEmail, type Role, readEmail } from "../people/user.ts";
import { openSession } from "../sessions/session-store.ts";
import type { Identity } from "./single-sign-on.ts";

interface Rules {
  domains: readonly string[];
  defaultRole: Role;
}

/**
 * Opens a session for an identity of the provider: a member who used it before; a member with the same verified
 * address; an invited person; or somebody with an address of an allowed domain who was not removed. Nobody new is
 * admitted before there is an owner. A refusal's message contains nothing from the provider, because it is shown on our
 * page through a URL that can be passed on.
 */
export async function logInIdentity(
  deps: { pool: Pool },
  input: { identity: Identity; rules: Rules; address: string; replaces: string | null },
): Promise<string> {
  const { identity } = input;
  const actor = { name: readEmail(identity.email) ?? "unknown", address: input.address };
  return inTransactionAs(deps.pool, actor, async (client) => {
    const userId = (await findByIdentity(client, identity)) ?? (await admit(client, identity, input.rules));
    return openSession(client, { userId, how: "single sign-on", address: input.address, replaces: input.replaces });
  });
}

/** Locked: somebody who is being removed right now is not found. */
async function findByIdentity(client: Client, identity: Identity): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>("select id from users where identity = $1 for key share", [
    identity.id,
  ]);
  return rows[0]?.id ?? null;
}

async function admit(client: Client, identity: Identity, rules: Rules): Promise<string> {
  const email = parseEmail(identity.email);
  if (!identity.isEmailVerified) {
    throw refused("The identity provider has not verified your email address. Verify it there, then try again.");
  }
  const { rows } = await client.query<{ id: string; identity: string | null }>(
    "select id, identity from users where lower(email) = $1 for update",
    [email],
  );
  const member = rows[0];
  if (member?.identity) throw refused("Your email address belongs to another account at the identity provider.");
  if (member) {
    await client.query("update users set identity = $2 where id = $1", [member.id, identity.id]);
    return member.id;
  }
  if (!(await hasOwner(client))) {
    throw refused("This installation has no owner yet. Open the link that the server printed when it started.");
  }
  const invitedAs = await spendInvitation(client, email);
  if (invitedAs === null && (await wasRemoved(client, { email, identity: identity.id }))) {
    throw refused("You were removed from this installation. Ask an owner to invite you again.");
  }
  const role = invitedAs ?? roleByDomain(email, rules);
  if (role === null) throw refused("You are not a member of this installation. Ask an owner to invite you.");
  const id = newId("usr");
  await client.query("insert into users (id, email, name, role, identity) values ($1, $2, $3, $4, $5)", [
    id,
    email,
    identity.name,
    role,
    identity.id,
  ]);
  return id;
}

async function spendInvitation(client: Client, email: string): Promise<Role | null> {
  const { rows } = await client.query<{ role: Role }>(
    `update login_links set used_at = clock_timestamp()
     where purpose = 'invite' and lower(email) = $1 and used_at is null and expires_at > clock_timestamp()
     returning role`,
    [email],
  );
  return rows[0]?.role ?? null;
}

/** By address or by the provider's id: a new address does not undo a removal. An accepted invitation does. */
async function wasRemoved(client: Client, who: { email: string; identity: string }): Promise<boolean> {
  const { rowCount } = await client.query("select from removed_members where email = $1 or identity = $2", [
    who.email,
    who.identity,
  ]);
  return rowCount !== 0;
}

function roleByDomain(email: string, rules: Rules): Role | null {
  const domain = email.slice(email.lastIndexOf("@") + 1);
  return rules.domains.includes(domain) ? rules.defaultRole : null;
}

function refused(publicMessage: string): AppError {
  return new AppError("forbidden", { publicMessage });
}
