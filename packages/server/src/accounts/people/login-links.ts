import { createHmac, randomBytes } from "node:crypto";
import type { Client, Pool, Queryable } from "../../db/pool.ts";
import { actAs, consoleActor, inTransaction, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import { type Entry, enterOrAsk } from "../factors/second-step.ts";
import type { Passwords } from "../sessions/passwords.ts";
import { endSessions, hashToken, newToken } from "../sessions/session-store.ts";
import { parseEmail, parseName, parsePassword, type Role, readEmail } from "./user.ts";

/** The purpose of a single-use link. */
type Link =
  /** Logs a browser in as the console, and continues to a page. */
  | { purpose: "login"; landsOn: string }
  /** Creates the first owner of an installation. */
  | { purpose: "owner" }
  | { purpose: "invite"; email: string; role: Role }
  /** Resets a person's password. */
  | { purpose: "reset"; email: string; userId: string };

interface LinkRow {
  purpose: Link["purpose"];
  landsOn: string;
  email: string;
  role: Role;
  userId: string;
}

const columns = `purpose, lands_on as "landsOn", email, role, user_id as "userId"`;
const isLive = "used_at is null and expires_at > clock_timestamp()";

/** Null if it is used, expired or unknown. Callers do not distinguish these. */
export async function findLink(db: Queryable, token: string): Promise<Link | null> {
  const { rows } = await db.query<LinkRow>(`select ${columns} from login_links where token_hash = $1 and ${isLive}`, [
    hashToken(token),
  ]);
  return rows[0] ? toLink(rows[0]) : null;
}

/** Of two concurrent callers, one gets it. */
export async function spendLink(db: Queryable, token: string): Promise<Link | null> {
  const { rows } = await db.query<LinkRow>(
    `update login_links set used_at = clock_timestamp() where token_hash = $1 and ${isLive} returning ${columns}`,
    [hashToken(token)],
  );
  return rows[0] ? toLink(rows[0]) : null;
}

/** Called with every new password: older reset links must stop working. */
export async function spendResetLinks(db: Queryable, userId: string): Promise<void> {
  await db.query(
    "update login_links set used_at = clock_timestamp() where purpose = 'reset' and user_id = $1 and used_at is null",
    [userId],
  );
}

function toLink({ purpose, landsOn, email, role, userId }: LinkRow): Link {
  switch (purpose) {
    case "login":
      return { purpose, landsOn };
    case "owner":
      return { purpose };
    case "invite":
      return { purpose, email, role };
    case "reset":
      return { purpose, email, userId };
  }
}

/** All links have this form. What they open depends on their purpose. */
export function linkUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/login/${token}`;
}

const loginLinkMinutes = 60;

/**
 * A link that logs one browser in, once, and continues to `landsOn`: a path of this installation, or a full URL such as
 * a pull request's. For the console.
 */
export async function createLoginLink(
  deps: { db: Queryable; publicUrl: string },
  input: { landsOn: string },
): Promise<string> {
  const token = newToken();
  await deps.db.query(
    `with swept_links as (delete from login_links where expires_at < clock_timestamp() - interval '1 day'),
          swept_sessions as (delete from sessions where expires_at < clock_timestamp())
     insert into login_links (token_hash, lands_on, expires_at)
     values ($1, $2, clock_timestamp() + make_interval(mins => $3))`,
    [hashToken(token), pathBelow(deps.publicUrl, input.landsOn), loginLinkMinutes],
  );
  return linkUrl(deps.publicUrl, token);
}

/** Only our own pages: otherwise this would be an open redirect. */
function pathBelow(publicUrl: string, landsOn: string): string {
  const path = landsOn.startsWith(`${publicUrl}/`) ? landsOn.slice(publicUrl.length) : landsOn;
  const resolved = URL.parse(`${publicUrl}${path}`);
  if (/^\/(?![/\\])/.test(path) && resolved?.href.startsWith(`${publicUrl}/`)) return path;
  throw new AppError("invalid_request", {
    publicMessage: `A login link can't open ${landsOn}. Use a path of this installation.`,
  });
}

const resetLinkMinutes = 60;

/** A link to reset a password, once. For the console: many installations send no mail. */
export async function createResetLink(deps: { pool: Pool; publicUrl: string }, email: string): Promise<string> {
  const token = newToken();
  await inTransactionAs(deps.pool, consoleActor, async (client) => {
    const { rowCount } = await client.query(
      `insert into login_links (token_hash, lands_on, expires_at, purpose, user_id, email, created_by)
       select $1, '/app', clock_timestamp() + make_interval(mins => $2), 'reset', id, email, 'console'
       from users where lower(email) = $3`,
      [hashToken(token), resetLinkMinutes, readEmail(email)],
    );
    if (rowCount === 0) throw new AppError("not_found", { publicMessage: `no member has the address ${email}` });
  });
  return linkUrl(deps.publicUrl, token);
}

const linkHours = 24;

/**
 * The link that creates the first owner, or null if there is one. Every node prints the same link: the database has its
 * seed and hash, and EMEND_SECRET is needed to derive it. `isNew` replaces it.
 */
export async function ensureOwnerLink(
  deps: { pool: Pool; secret: string; publicUrl: string },
  options: { isNew: boolean },
): Promise<string | null> {
  return inTransaction(deps.pool, async (client) => {
    // Nodes that start together take turns: none may replace the link that another has just printed.
    await client.query("select pg_advisory_xact_lock(hashtextextended('emend owner link', 0))");
    if (await hasOwner(client)) return null;
    if (options.isNew) await client.query("delete from login_links where purpose = 'owner'");
    const kept = await findSeed(client);
    const token = kept && deriveToken(deps.secret, kept.seed);
    // After a change of EMEND_SECRET, the old link no longer works.
    if (token && hashToken(token).equals(kept.tokenHash)) return linkUrl(deps.publicUrl, token);
    await client.query("delete from login_links where purpose = 'owner'");
    const seed = randomBytes(32);
    const made = deriveToken(deps.secret, seed);
    await client.query(
      `insert into login_links (token_hash, lands_on, expires_at, purpose, seed)
       values ($1, '/app/start', clock_timestamp() + make_interval(hours => $2), 'owner', $3)`,
      [hashToken(made), linkHours, seed],
    );
    return linkUrl(deps.publicUrl, made);
  });
}

export async function hasOwner(db: Pick<Client, "query">): Promise<boolean> {
  return ((await db.query("select from users where role = 'owner' limit 1")).rowCount ?? 0) > 0;
}

async function findSeed(client: Client): Promise<{ seed: Buffer; tokenHash: Buffer } | null> {
  const { rows } = await client.query<{ seed: Buffer; tokenHash: Buffer }>(
    `select seed, token_hash as "tokenHash" from login_links
     where purpose = 'owner' and used_at is null and expires_at > clock_timestamp()`,
  );
  return rows[0] ?? null;
}

function deriveToken(secret: string, seed: Buffer): string {
  return createHmac("sha256", secret).update("emend owner link").update(seed).digest("base64url");
}

interface Acceptance {
  token: string;
  /** Required if the link does not contain it. */
  email?: string;
  name?: string;
  password: string;
  address: string;
  replaces: string | null;
}

type AcceptOutcome = Entry | { kind: "gone" };

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
    const userId = await addOrUpdatePerson(client, link, { email, name, passwordHash });
    if (userId === null) return { kind: "gone" };
    const session = { userId, how: "link", address: input.address, replaces: input.replaces } as const;
    return enterOrAsk(client, session);
  });
}

interface Person {
  email: string;
  name: string;
  passwordHash: string;
}

/** The person's id. Null if the link no longer applies. */
async function addOrUpdatePerson(client: Client, link: Exclude<Link, { purpose: "login" }>, person: Person) {
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
      await endSessions(client, link.userId);
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
