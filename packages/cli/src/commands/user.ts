import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { printResult, say } from "../cli.ts";
import { minute, safeText, table } from "../terminal/format.ts";
import { withAdmin, withNewAdmin } from "../with-admin.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

interface InviteOptions extends AdminOptions {
  role: "owner" | "maintainer" | "viewer";
}

export function registerUserInvite(user: Command, cli: Cli): void {
  const command = user
    .command("invite")
    .description("print a link by which one person joins")
    .argument("<email>", "the person's email address")
    .addOption(
      new Option("--role <role>", "what they may do").choices(["owner", "maintainer", "viewer"]).default("viewer"),
    );
  withJson(withData(command)).action((email: string, options: InviteOptions) => invite(cli, email, options));
}

async function invite(cli: Cli, email: string, options: InviteOptions): Promise<void> {
  const { link } = await withNewAdmin(cli, options, (admin) => admin.inviteMember({ email, role: options.role }));
  printResult(cli, options, { url: link }, link);
  say(cli, options, `It works once, for seven days. Send it to ${email}; Emend sends no mail.`);
}

interface LinkOptions extends AdminOptions {
  to?: string;
}

export function registerUserLink(user: Command, cli: Cli): void {
  const command = user
    .command("link")
    .description("print a link, good for once: it makes the first person the owner, and later logs a browser in")
    .option("--to <page>", "log in at once, and land on this path or address (default, once there is an owner: /app)");
  withJson(withData(command)).action((options: LinkOptions) => printLink(cli, options));
}

async function printLink(cli: Cli, options: LinkOptions): Promise<void> {
  const { url, forOwner } = await withNewAdmin(cli, options, async (admin) => {
    const owner = options.to === undefined ? await admin.ownerLink({ isNew: true }) : null;
    return { url: owner ?? (await admin.createLoginLink(options.to ?? "/app")), forOwner: owner !== null };
  });
  printResult(cli, options, { url }, url);
  say(
    cli,
    options,
    forOwner
      ? "It works once, for a day, and replaces earlier links. The person who opens it becomes the owner, so keep it secret."
      : "It works once, for an hour. Anyone who opens it is logged in, so keep it secret.",
  );
}

export function registerUserList(user: Command, cli: Cli): void {
  const command = user.command("list").description("list the people who may log in, and who is invited");
  withJson(withData(command)).action((options: AdminOptions) => listUsers(cli, options));
}

async function listUsers(cli: Cli, options: AdminOptions): Promise<void> {
  const [users, invitations] = await withAdmin(cli, options, (admin) =>
    Promise.all([admin.listMembers(), admin.listInvitations()]),
  );
  if (users.length === 0) {
    const who = invitations.length === 0 ? "No users yet" : "No members yet";
    say(cli, options, `${who}: emend user link prints a link for the owner.`);
  }
  if (users.length + invitations.length === 0 && !options.json) return;
  const members = users.map((user) => [
    safeText(user.email),
    user.role,
    `${user.hasPassword ? "password" : "single sign-on"}${user.hasFactor ? ", second factor" : ""}`,
    user.lastLoginAt ? minute(user.lastLoginAt) : "never",
    safeText(user.name),
  ]);
  const invited = invitations.map(({ email, role, expiresAt }) => [
    safeText(email),
    role,
    "invited",
    "never",
    `until ${minute(expiresAt)}`,
  ]);
  const heading = ["E-MAIL", "ROLE", "BY", "LAST LOGIN", "NAME"];
  const everybody = [
    ...users.map((user) => ({ ...user, status: "member" })),
    ...invitations.map(({ id: _, ...invitation }) => ({ ...invitation, status: "invited" })),
  ];
  printResult(cli, options, everybody, table([heading, ...members, ...invited]));
}

export function registerUserReset(user: Command, cli: Cli): void {
  const command = user
    .command("reset")
    .description("print a link by which a person sets a new password")
    .argument("<email>", "the person's email address");
  withJson(withData(command)).action((email: string, options: AdminOptions) => reset(cli, email, options));
}

async function reset(cli: Cli, email: string, options: AdminOptions): Promise<void> {
  const url = await withAdmin(cli, options, (admin) => admin.createResetLink(email));
  printResult(cli, options, { url }, url);
  say(cli, options, "It works once, for an hour. The old password works until then; every session ends with it.");
}

export function registerUserResetFactor(user: Command, cli: Cli): void {
  const command = user
    .command("reset-factor")
    .description("remove a person's second factors, and end their sessions: for a lost phone without recovery codes")
    .argument("<email>", "the person's email address");
  withJson(withData(command)).action((email: string, options: AdminOptions) => resetFactor(cli, email, options));
}

async function resetFactor(cli: Cli, email: string, options: AdminOptions): Promise<void> {
  const done = await withAdmin(cli, options, (admin) => admin.resetFactors(email));
  const factors = done.removed === 1 ? "a second factor" : `${done.removed} second factors`;
  printResult(cli, options, done, `Removed ${factors} of ${safeText(done.email)}.`);
  say(
    cli,
    options,
    "Their sessions ended. If a second factor is required, they set up a new one with their next login.",
  );
}

interface ChatOptions extends AdminOptions {
  remove?: boolean;
}

export function registerUserChat(user: Command, cli: Cli): void {
  const command = user
    .command("chat")
    .description("let an account of a chat act as a member, where its email address does not match")
    .argument("<email>", "the member's email address")
    .argument("<account>", "such as slack/U0123456789 or mattermost/ID")
    .option("--remove", "take it back");
  withJson(withData(command)).action((email: string, account: string, options: ChatOptions) =>
    linkChat(cli, { email, account }, options),
  );
}

async function linkChat(cli: Cli, link: { email: string; account: string }, options: ChatOptions): Promise<void> {
  const isLinked = options.remove !== true;
  await withAdmin(cli, options, (admin) => admin.linkChatAccount({ ...link, isLinked }));
  const words = isLinked ? "acts as" : "no longer acts as";
  printResult(cli, options, { ...link, isLinked }, `${safeText(link.account)} ${words} ${safeText(link.email)}.`);
}

interface DirectoryOptions extends AdminOptions {
  revoke?: string;
}

export function registerUserDirectory(user: Command, cli: Cli): void {
  const command = user
    .command("directory")
    .description(
      "print a token for an identity provider that adds and removes people (SCIM); without a name, list them",
    )
    .argument("[name]", "what the token is for, such as Okta")
    .option("--revoke <id>", "revoke this token");
  withJson(withData(command)).action((name: string | undefined, options: DirectoryOptions) => {
    if (options.revoke !== undefined) return revokeToken(cli, options.revoke, options);
    return name === undefined ? listTokens(cli, options) : createToken(cli, name, options);
  });
}

async function createToken(cli: Cli, name: string, options: DirectoryOptions): Promise<void> {
  const made = await withNewAdmin(cli, options, (admin) => admin.createDirectoryToken({ name }));
  printResult(cli, options, made, made.token);
  say(cli, options, `It is shown once. Give it to your identity provider, with the URL ${made.url}`);
}

async function listTokens(cli: Cli, options: DirectoryOptions): Promise<void> {
  const tokens = await withAdmin(cli, options, (admin) => admin.listDirectoryTokens());
  if (tokens.length === 0) say(cli, options, "No directory tokens yet: emend user directory NAME creates one.");
  if (tokens.length === 0 && !options.json) return;
  const rows = tokens.map(({ id, name, createdBy, lastUsedAt, revokedAt }) => [
    id,
    safeText(name),
    safeText(createdBy),
    lastUsedAt ? minute(lastUsedAt) : "never",
    revokedAt ? `revoked ${minute(revokedAt)}` : "works",
  ]);
  printResult(cli, options, tokens, table([["ID", "NAME", "CREATED BY", "LAST USED", "STATE"], ...rows]));
}

async function revokeToken(cli: Cli, id: string, options: DirectoryOptions): Promise<void> {
  await withAdmin(cli, options, (admin) => admin.revokeDirectoryToken(id));
  printResult(cli, options, { id, isRevoked: true }, `Revoked ${safeText(id)}. Its members stay.`);
}
