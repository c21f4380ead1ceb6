import type { Claim, ClaimState } from "@emend/sdk";
import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { safeText, table } from "../terminal/format.ts";
import { projectOf, splitWords, withProject } from "./jobs-of.ts";
import { withJson } from "./options.ts";

interface ListOptions {
  page?: string;
  state?: string;
  json?: boolean;
}

const states: readonly string[] = ["new", "same", "changed", "gone"] satisfies ClaimState[];

export function registerClaimsList(claims: Command, cli: Cli): void {
  const command = withProject(claims.command("list").description("list what the project's pages rely on"), [])
    .option("--page <path>", "only claims of this page")
    .option("--state <state>", "only claims in this state: new, same, changed or gone");
  withJson(command).action((project: string | undefined, options: ListOptions) => listClaims(cli, project, options));
}

async function listClaims(cli: Cli, given: string | undefined, options: ListOptions): Promise<void> {
  const { page, state } = options;
  if (state !== undefined && !states.includes(state)) {
    throw new CliError("usage", `--state must be one of ${states.join(", ")}`);
  }
  const { client, project } = await projectOf(cli, given);
  const found: Claim[] = [];
  const wanted = {
    ...(page === undefined ? {} : { page }),
    ...(state === undefined ? {} : { state: state as ClaimState }),
  };
  for await (const claim of client.claims(project).list({ ...wanted, limit: 1_000, signal: cli.signal }))
    found.push(claim);
  if (found.length === 0) say(cli, options, "No claims. Add one: emend claims add docs/page.md:12 @api/src/main.ts:4");
  if (found.length === 0 && !options.json) return;
  const rows = found.map((claim) => [claim.id, claim.state, placeOf(claim.page), sourceOf(claim)]);
  const details = found.flatMap(describe);
  const text = [table([["ID", "STATE", "PAGE", "SOURCE"], ...rows]), ...(details.length > 0 ? ["", ...details] : [])];
  printResult(cli, options, found, text.join("\n"));
}

function placeOf({ path, line, lineEnd }: Claim["page"]): string {
  return `${path}:${line}${lineEnd > line ? `-${lineEnd}` : ""}`;
}

function sourceOf({ source }: Claim): string {
  return `${source.repository === null ? "" : `@${source.repository}/`}${placeOf(source)}`;
}

/** What a person must look at: old and new text, and who changed it. */
function describe(claim: Claim): readonly string[] {
  const { source, found, cause, problem, state } = claim;
  if (problem !== null) return [`${claim.id}: ${safeText(problem)}`];
  if (state !== "changed" && state !== "gone") return [];
  const lines = (sign: string, text: string) => text.split("\n").map((line) => `  ${sign} ${safeText(line)}`);
  const pull = cause?.pullRequest ? `, pull request #${cause.pullRequest}` : "";
  const by = cause ? ` ${cause.commit.slice(0, 10)} by ${cause.author} on ${cause.date}${pull}: ${cause.message}` : "";
  return [
    `${placeOf(claim.page)} relies on ${sourceOf(claim)}, which ${state === "gone" ? "is gone" : "changed"}.${safeText(by)}`,
    ...lines("-", source.text ?? ""),
    ...lines("+", found?.text ?? "").slice(0, found ? undefined : 0),
  ];
}

export function registerClaimsAdd(claims: Command, cli: Cli): void {
  const command = withProject(claims.command("add").description("bind lines of a page to the code that they rely on"), [
    ["page", "page and line, or lines: docs/timeouts.md:12-14"],
    ["source", "file and line, or lines: src/net.ts:4, or @name/src/net.ts:4 in a context repository"],
  ]);
  withJson(command).action(async (...words: [string?, string?, string?, { json?: boolean }?]) => {
    const options = words[3] ?? {};
    const { project: given, rest } = splitWords(words.slice(0, 3) as (string | undefined)[], ["page", "source"]);
    const { client, project } = await projectOf(cli, given);
    const [page = "", source = ""] = rest;
    const claim = await client.claims(project).add({ page, source }, { signal: cli.signal });
    printResult(cli, options, claim, claim.id);
    say(cli, options, "Added. Emend reads both places in a moment: emend claims list");
  });
}

export function registerClaimsEnd(claims: Command, cli: Cli): void {
  for (const [name, description, done] of [
    ["confirm", "say that the page is right about a claim's changed lines", "Confirmed."],
    ["remove", "remove a claim; the page stays as it is", "Removed."],
  ] as const) {
    const command = withProject(claims.command(name).description(description), [["id", "the claim's id"]]);
    withJson(command).action(async (first?: string, second?: string, options: { json?: boolean } = {}) => {
      const { project: given, rest } = splitWords([first, second], ["id"]);
      const { client, project } = await projectOf(cli, given);
      const claim = await client.claims(project)[name](rest[0] ?? "", { signal: cli.signal });
      if (options.json) printResult(cli, options, claim, "");
      say(cli, options, done);
    });
  }
}
