/** Every forge that a project can be on. The database has the same list. */
export const forgeNames = ["local", "github", "gitlab", "gitea", "bitbucket"] as const;
export type ForgeName = (typeof forgeNames)[number];
