/** In order: each may do what those before it may. */
export const roles = ["viewer", "maintainer", "owner"] as const;
/** A viewer reads; a maintainer works on projects, keys and jobs; an owner also on members and settings. */
export type Role = (typeof roles)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(needed);
}

export interface User {
  id: string;
  email: string;
  name: string;
  role: Role;
  hasPassword: boolean;
  createdAt: Date;
  lastLoginAt: Date | null;
}

export const userColumns = `id, email, name, role, password_hash is not null as "hasPassword",
  created_at as "createdAt", last_login_at as "lastLoginAt"`;
