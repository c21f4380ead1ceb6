import type { Queryable } from "../db/pool.ts";
import { type Role, type User, userColumns } from "./user.ts";

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  createdBy: string | null;
  expiresAt: Date;
}

export async function listMembers(db: Queryable): Promise<readonly User[]> {
  const { rows } = await db.query<User>(`select ${userColumns} from users order by lower(email) limit 1000`);
  return rows;
}

/** Those that somebody may still accept. */
export async function listInvitations(db: Queryable): Promise<readonly Invitation[]> {
  const { rows } = await db.query<Invitation>(
    `select encode(token_hash, 'hex') as id, email, role, created_by as "createdBy", expires_at as "expiresAt"
     from login_links where purpose = 'invite' and used_at is null and expires_at > clock_timestamp()
     order by created_at desc limit 1000`,
  );
  return rows;
}

export async function findMember(db: Queryable, id: string): Promise<User | null> {
  const { rows } = await db.query<User>(`select ${userColumns} from users where id = $1`, [id]);
  return rows[0] ?? null;
}
