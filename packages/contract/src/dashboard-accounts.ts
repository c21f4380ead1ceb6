/** What the dashboard's routes about people answer. */

export type MemberRole = "owner" | "maintainer" | "viewer";

/** What the login page offers. */
export interface DashboardLogin {
  /** False on the first run: the console prints a link for the first person. */
  hasOwner: boolean;
  /** Null: not configured. */
  singleSignOn: { name: string } | null;
  /** Why single sign-on did not work, in words. */
  problem: string | null;
}

/** A single-use link that asks something before it does anything. */
export interface DashboardLink {
  purpose: "owner" | "invite" | "reset";
  /** Null: the person says it. */
  email: string | null;
  role: MemberRole | null;
}

export interface DashboardMember {
  id: string;
  email: string;
  name: string;
  role: MemberRole;
  /** False: by single sign-on alone. */
  hasPassword: boolean;
  isSelf: boolean;
  createdAt: string;
  lastLoginAt: string | null;
}

export interface DashboardInvitation {
  id: string;
  email: string;
  role: MemberRole;
  createdBy: string | null;
  expiresAt: string;
}

export interface DashboardMembers {
  members: readonly DashboardMember[];
  invitations: readonly DashboardInvitation[];
}

/** The browsers in which whoever asks is logged in. */
export interface DashboardOwnSessions {
  /** This one first, then the newest. */
  sessions: readonly {
    startedAt: string;
    expiresAt: string;
    /** How and from where; null where an earlier release opened it. */
    by: string | null;
    address: string | null;
    isThis: boolean;
  }[];
}

export interface DashboardSettings {
  archiveAfterDays: {
    /** Whose word counts: the dashboard's wins over the environment's. */
    source: "dashboard" | "environment";
    /** Null: never. */
    days: number | null;
    environment: number | null;
  };
  /** Null: not configured. */
  singleSignOn: {
    name: string;
    issuer: string;
    clientId: string;
    domains: readonly string[];
    defaultRole: MemberRole;
  } | null;
}

export interface DashboardAuditEntry {
  id: string;
  at: string;
  /** An e-mail address, `console`, a key, or `system`. */
  actor: string;
  address: string | null;
  action: string;
  target: string | null;
  details: Readonly<Record<string, unknown>>;
}

export interface DashboardAuditPage {
  /** Newest first. */
  entries: readonly DashboardAuditEntry[];
  /** Null: there are no more. */
  nextCursor: string | null;
}
