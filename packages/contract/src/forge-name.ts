/** Every forge that a project may be on; the database holds the same list. */
export const forgeNames = ["local", "github", "gitlab", "gitea", "bitbucket"] as const;
export type ForgeName = (typeof forgeNames)[number];
