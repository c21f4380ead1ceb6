import { operations } from "@emend/contract";

/** The kinds of callers. */
export type Caller =
  | "nobody"
  | "no such key"
  | "revoked key"
  | "expired key"
  | "foreign key"
  | "read key"
  | "write key";
const callers: readonly Caller[] = [
  "nobody",
  "no such key",
  "revoked key",
  "expired key",
  "foreign key",
  "read key",
  "write key",
];

/** The expected status. "in": anything but a refusal of the caller or a server error. "out": 401, or 429 after many. */
type Wanted = number | "in" | "out";
type Rule = Readonly<Record<Caller, Wanted>>;

const strangers = (status: Wanted) =>
  ({ nobody: status, "no such key": status, "revoked key": status, "expired key": status }) as const;
const rules = {
  /** The project's keys, whatever their scope. */
  read: { ...strangers(401), "foreign key": 404, "read key": "in", "write key": "in" },
  write: { ...strangers(401), "foreign key": 404, "read key": 403, "write key": "in" },
  /** What takes a key that may manage: none of these callers has one. `operations/routes.test.ts` has. */
  manage: { ...strangers(401), "foreign key": 403, "read key": 403, "write key": 403 },
  manageProject: { ...strangers(401), "foreign key": 404, "read key": 403, "write key": 403 },
  /** Any valid key: its permission depends on what it requests. */
  key: { ...strangers(401), "foreign key": "in", "read key": "in", "write key": "in" },
  /** Logged-in people; keys are not accepted. `roles.test.ts` tries every role on each of these. */
  session: { ...strangers(401), "foreign key": 401, "read key": 401, "write key": 401 },
  signed: { ...strangers(401), "foreign key": 401, "read key": 401, "write key": 401 },
  /** A directory's token: no key opens these. */
  directory: { ...strangers("out"), "foreign key": "out", "read key": "out", "write key": "out" },
  open: { ...strangers("in"), "foreign key": "in", "read key": "in", "write key": "in" },
  /** A login from a page of another site. */
  ownPage: { ...strangers(403), "foreign key": 403, "read key": 403, "write key": 403 },
} satisfies Record<string, Rule>;

const api = "/v2/agent/:projectId";
const dashboard = "/dashboard/api";
const drawn = Object.values(operations);
const managed = drawn.filter(({ access }) => access !== "viewer");
const keyRoute = ({ method, path }: (typeof drawn)[number]) => `${method} /v2${path}`;

/** Every route has a row here. A route without a row fails the matrix, and so does a row without a route. */
const rows: Readonly<Record<keyof typeof rules, readonly string[]>> = {
  read: [
    `GET ${api}/jobs`,
    ...["", "/diff", "/events", "/run"].map((end) => `GET ${api}/job/:id${end}`),
    `GET ${api}/claims`,
    `GET ${api}/automations`,
    ...["gates", "gates/:id", "health"].map((end) => `GET ${api}/${end}`),
    "GET /git/:repository/info/refs",
    ...drawn.filter(({ access }) => access === "viewer").map(keyRoute),
    "POST /git/:repository/git-upload-pack",
  ],
  write: [
    `POST ${api}/job`,
    `POST ${api}/upload`,
    ...["approve", "archive", "cancel", "decline", "message", "publish", "retry"].map(
      (end) => `POST ${api}/job/:id/${end}`,
    ),
    `POST ${api}/automations`,
    `POST ${api}/automations/:id/run`,
    `PATCH ${api}/automations/:id`,
    `DELETE ${api}/automations/:id`,
    `POST ${api}/gates/:id/look`,
    `POST ${api}/claims`,
    `POST ${api}/claims/:id/confirm`,
    `DELETE ${api}/claims/:id`,
    "POST /git/:repository/git-receive-pack",
    "POST /forge/:projectId/pulls",
    "POST /forge/:projectId/statuses/:commit",
    ...["close", "merge", "ready"].map((end) => `POST /forge/:projectId/pull/:number/${end}`),
  ],
  manage: managed.filter(({ path }) => !path.includes(":projectId")).map(keyRoute),
  manageProject: managed.filter(({ path }) => path.includes(":projectId")).map(keyRoute),
  key: ["POST /mcp", "GET /v2/projects"],
  signed: ["POST /hooks/:forge/:projectId", "POST /hooks/automations/:id"],
  directory: [
    ...["ServiceProviderConfig", "ResourceTypes", "ResourceTypes/:id", "Schemas", "Schemas/:id"].map(
      (end) => `GET /scim/v2/${end}`,
    ),
    ...["Users", "Groups"].flatMap((end) => [
      ...["GET", "POST"].map((method) => `${method} /scim/v2/${end}`),
      ...["GET", "PUT", "PATCH", "DELETE"].map((method) => `${method} /scim/v2/${end}/:id`),
    ]),
  ],
  open: [
    "GET /",
    "GET /app",
    "GET /app/*",
    "GET /app/assets/:name",
    "GET /app/github-app",
    "GET /forge/:projectId/pull/:number",
    "GET /forge/:projectId/pulls",
    "GET /healthz",
    "GET /login/:token",
    ...["client.json", "return"].map((name) => `GET /knowledge/${name}`),
    ...["", "/mcp"].map((end) => `GET /.well-known/oauth-protected-resource${end}`),
    ...["oauth-authorization-server", "openid-configuration"].map((name) => `GET /.well-known/${name}`),
    ...["authorize", "authorize/:id", "jwks"].map((name) => `GET /oauth/${name}`),
    ...["revoke", "token"].map((name) => `POST /oauth/${name}`),
    "GET /openapi.json",
    "GET /pictures/:link",
    "GET /readyz",
    "GET /reference/",
    `GET ${dashboard}/auth`,
    // A provider's form comes from another site. `saml.test.ts` tries what it may contain.
    ...["saml/metadata", "single-sign-on", "single-sign-on/return"].map((end) => `GET ${dashboard}/auth/${end}`),
    `POST ${dashboard}/auth/saml/acs`,
  ],
  ownPage: [
    ...["accept", "link", "login", "passkey", "passkey/begin", "second-step"],
    ...["authenticator-app", "passkey"].flatMap((factor) => [`set-up/${factor}`, `set-up/${factor}/begin`]),
  ].map((end) => `POST ${dashboard}/auth/${end}`),
  session: [
    ...[
      "audit",
      "audit.csv",
      "automations/:id",
      "connect",
      "factors",
      "directory",
      "gates/:id",
      "github-apps",
      "inbox",
      "jobs",
      "jobs/:id",
      "jobs/:id/diff",
      "jobs/:id/events",
      "jobs/:id/file",
      "jobs/:id/page",
      "jobs/:id/picture",
      "jobs/:id/steps/:number",
      "keys",
      "members",
      "names",
      "projects",
      "projects/:id/allowed-constructs",
      "projects/:id/automations",
      "projects/:id/context",
      "projects/:id/import",
      "projects/:id/models",
      "projects/:projectId/gates",
      "projects/:projectId/health",
      "projects/:projectId/page",
      "projects/:projectId/suggestions",
      "projects/:projectId/uploads/:id",
      "pulls",
      "pulls/:projectId/:number",
      "pulls/:projectId/:number/file",
      "search",
      "session",
      "sessions",
      "settings",
      "status",
      "budgets",
      "usage",
      "usage.csv",
    ].map((end) => `GET ${dashboard}/${end}`),
    ...["automations/:id", "directory", "projects/:id", "settings"].map((end) => `PATCH ${dashboard}/${end}`),
    ...[
      "automations/:id/pause",
      "automations/:id/remove",
      "automations/:id/resume",
      "automations/:id/run",
      "connect",
      "connect/refuse",
      "factors/authenticator-app/begin",
      "factors/authenticator-app/confirm",
      "factors/authenticator-app/remove",
      "factors/passkeys",
      "factors/passkeys/:id/remove",
      "factors/passkeys/:id/rename",
      "factors/passkeys/begin",
      "factors/prove",
      "factors/prove/passkey",
      "factors/prove/passkey/begin",
      "factors/recovery-codes",
      "directory/tokens",
      "directory/tokens/:id/revoke",
      "directory/people/:id/connect",
      "gates/:id/job",
      "gates/:id/look",
      "gates/:id/wrong",
      "github-apps",
      "github-apps/:id/manifest",
      "github-apps/:id/remove",
      "github-apps/created",
      "inbox/dismiss",
      "invitations",
      "invitations/:id/revoke",
      "jobs/:id/approve",
      "jobs/:id/archive",
      "jobs/:id/cancel",
      "jobs/:id/decline",
      "jobs/:id/message",
      "jobs/:id/publish",
      "jobs/:id/retry",
      "keys",
      "keys/:id/revoke",
      "keys/:id/rotate",
      "members/:id/remove",
      "members/:id/role",
      "notifications",
      "password",
      "projects",
      "projects/:id/allowed-constructs/remove",
      "projects/:id/automations",
      "projects/:id/context",
      "projects/:id/context/remove",
      "projects/:id/credential",
      "projects/:id/diagnosis",
      "projects/:id/import",
      "projects/:id/import/files",
      "projects/:id/model-keys",
      "projects/:id/models/test",
      "projects/:id/remove",
      "projects/:id/repository",
      "projects/:projectId/claims",
      "projects/:projectId/claims/:id/confirm",
      "projects/:projectId/claims/:id/remove",
      "projects/:projectId/health/check",
      "projects/:projectId/jobs",
      "projects/:projectId/page/check",
      "projects/:projectId/page/propose",
      "projects/:projectId/reading",
      "projects/:projectId/uploads",
      "repositories",
      "pulls/:projectId/:number/ask",
      "pulls/:projectId/:number/close",
      "pulls/:projectId/:number/comments",
      "pulls/:projectId/:number/edit",
      "pulls/:projectId/:number/merge",
      "pulls/:projectId/:number/ready",
      "pulls/:projectId/:number/review",
      "pulls/:projectId/:number/reviewers",
      "pulls/:projectId/:number/viewed",
      "pulls/:projectId/:number/threads",
      "pulls/:projectId/:number/threads/:id/apply",
      "pulls/:projectId/:number/threads/:id/replies",
      "pulls/:projectId/:number/threads/:id/resolve",
      "session/end",
      "sessions/end-others",
      "start/sample",
      "tasks/retry",
      ...Object.keys(operations).map((name) => `operations/${name}`),
    ].map((end) => `POST ${dashboard}/${end}`),
  ],
};
export interface Cell {
  route: string;
  caller: Caller;
  wanted: Wanted;
}

/** Every route with every caller. `missing`: routes without a row. `stale`: rows without a route. */
export function matrixOf(routes: readonly string[]): { cells: readonly Cell[]; missing: string[]; stale: string[] } {
  const ruleOf = new Map<string, Rule>();
  for (const [rule, named] of Object.entries(rows)) {
    for (const route of named) ruleOf.set(route, rules[rule as keyof typeof rules]);
  }
  const known = new Set(routes);
  return {
    missing: routes.filter((route) => !ruleOf.has(route)),
    stale: [...ruleOf.keys()].filter((row) => !known.has(row)),
    cells: routes.flatMap((route) =>
      callers.map((caller) => ({ route, caller, wanted: ruleOf.get(route)?.[caller] ?? "in" })),
    ),
  };
}

export function isRight(wanted: Wanted, status: number): boolean {
  if (wanted === "out") return status === 401 || status === 429;
  return wanted === "in" ? status < 500 && status !== 401 && status !== 403 : status === wanted;
}
