// Costly: exit codes are those of a process.
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Cli, exitCodes } from "../src/cli.ts";
import { commandTree } from "../src/commands/completion.ts";
import { buildProgram } from "../src/run-cli.ts";
import { type Installation, startInstallation } from "./support/installation.ts";
import { runInProcess } from "./support/run-emend.ts";

// From the table in docs/cli.md. 2: the command line is wrong. 4: the installation or the server refuses a correct one.
type Row = [line: string, code: 0 | 1 | 2 | 3 | 4, says: string];

/** `P` is a project, `J` a job of it, `K` its key, `A` an automation, `D` a folder that exists, `F` a file in it, `E` an empty
 * one, `N` one that does not exist. */
const rows: readonly Row[] = [
  ["", 2, "Usage: emend"],
  ["nope", 2, "unknown command 'nope'"],
  ["--version", 0, ""],
  ["serve --port 70000", 2, 'emend: --port cannot be "70000". A port is'],
  ["serve --data F", 2, "docs.json, which is not a folder"],
  ["serve --data /dev/null/x", 2, "cannot be made: /dev/null is not a folder"],
  ["serve --role boss", 2, "Allowed choices are all, api, worker"],
  ["serve --role api", 2, "EMEND_DATABASE_URL"],
  ["demo --repo N", 2, "there is nothing at"],
  ["project add X", 2, "--forge"],
  ["project add X --forge nope", 2, "Allowed choices"],
  ["project add X --forge local --repo N", 2, "there is nothing at"],
  ["project add X --forge local --repo D --base nope", 2, 'no branch "nope"'],
  ["project add X --forge local --repo D --docs nope", 2, "on main; folders at its top: api, guides"],
  ["project add X --forge github --repo acme/docs", 2, "set GITHUB_TOKEN"],
  ["project add X --forge github --data N", 2, "add --repo URL; the forge's token is missing: set GITHUB_TOKEN"],
  ["project add X --forge local --repo E", 0, "It is empty, and jobs need a first commit: git push http"],
  ["project add Docs --forge local --repo D", 0, "it has the same name as prj_"],
  ["project add X --forge gitea --repo http://127.0.0.1:2/a/b --token-env TOKEN", 0, "did not answer at 127.0.0.1:2"],
  ["project list --nope", 2, "unknown option '--nope'"],
  ["project list --data N", 4, "no installation in"],
  ["project list", 0, ""],
  ["project doctor nope", 4, "project not found: nope"],
  ["project doctor P", 0, ""],
  ["project show nope", 4, "project not found: nope"],
  ["project show P", 0, ""],
  ["project settings nope", 4, "project not found: nope"],
  ["project settings P lanes=none", 2, "`lanes` must be an integer"],
  ["project settings P lanes", 2, "give KEY=VALUE or a JSON object, not lanes"],
  ["project settings P {nope", 2, "not a JSON object"],
  ["project settings P", 0, ""],
  ["project remove P", 2, "--confirm"],
  ["project remove P --confirm nope", 2, "not the project's name, so nothing was removed"],
  ["project remove nope --confirm nope", 4, "project not found: nope"],
  ["project erase P", 2, "--confirm"],
  ["project erase P --confirm nope", 2, "not the project's name, so nothing was erased"],
  ["project erase P --confirm Docs --export /", 2, "--export cannot create /"],
  ["project erase nope --confirm nope", 4, "project not found: nope"],
  ["job erase job_a --confirm job_b", 2, "not the job's id, so nothing was erased"],
  ["job erase job_a --confirm job_a", 4, "Job not found"],
  ["user erase a@b.test --confirm c@d.test", 2, "not the address, so nothing was erased"],
  ["user erase a@b.test --confirm a@b.test", 4, "No member has the address a@b.test"],
  ["project set P", 2, "nothing to set: give --repo URL, --follow or --token-env VARIABLE"],
  ["project set P --token-env NONE", 2, "the variable NONE is empty or not set"],
  ["project set P --repo N --follow", 2, "cannot be used with"],
  ["project set nope --token-env HOME", 4, "project not found: nope"],
  ["project context add P x --forge local", 2, "--repo"],
  ["project context add P x! --forge local --repo P", 2, "name must have 1 to 63"],
  ["project context add P x --forge local --repo nope", 4, "There is no project nope"],
  ["project context add nope x --forge local --repo P", 4, "project not found: nope"],
  ["project context list nope", 4, "project not found: nope"],
  ["project context list P", 0, "No context repositories yet"],
  ["project context remove nope x", 4, "project not found: nope"],
  ["project context remove P nope", 4, "no context repository nope"],
  ["project allowed list nope", 4, "project not found: nope"],
  ["project allowed list P", 0, "No construct was allowed"],
  ["project allowed remove nope x", 4, "project not found: nope"],
  ["project allowed remove P nope", 4, "not allowed on the project's site: nope"],
  ["project knowledge add P wiki", 2, "--url"],
  [
    "project knowledge add P wiki --url https://wiki.test/mcp --token-env NONE",
    2,
    "the token is missing: the variable NONE is not set or empty",
  ],
  ["project knowledge add nope wiki --url https://wiki.test/mcp", 4, "project not found: nope"],
  ["project knowledge add P files --program none", 2, "EMEND_KNOWLEDGE_PROGRAMS does not name a program none"],
  ["project knowledge add P files --url https://x.test --program none", 2, "give --url or --program"],
  ["project knowledge list nope", 4, "project not found: nope"],
  ["project knowledge list P", 0, "No knowledge servers yet"],
  ["project knowledge tools P nope", 4, "nope"],
  ["project knowledge allow P nope tool", 4, "nope"],
  ["project knowledge deny P nope tool", 4, "nope"],
  ["project knowledge connect P nope", 4, "nope"],
  ["project knowledge connect P nope --client-secret-env NONE", 2, "--client-secret-env needs --client-id"],
  ["project knowledge remove P nope", 4, "the project has no knowledge server nope"],
  ["key create", 2, "there are several projects; give an id: prj_"],
  ["key create --project P --expires soon", 2, "12h, 90d"],
  ["key create --project P --name=", 2, "on one line"],
  ["key create --project nope", 4, "project not found: nope"],
  ["key list", 0, ""],
  ["key revoke nope", 4, "no key with the id nope"],
  ["model key set P acme --key-env HOME", 2, "anthropic, openai, google, bedrock, vertex, azure, compatible"],
  ["model key set P openai", 2, "OPENAI_API_KEY is not set"],
  ["model key set nope openai --key-env HOME", 4, "project not found: nope"],
  ["model key remove P openai", 4, "no own key"],
  ["secrets rotate --to-env NONE", 2, "NONE is not set"],
  ["secrets rotate", 4, "Stop every one of them first"],
  ["user link --to http://example.com/", 2, "can't open"],
  ["user list", 0, "No users yet"],
  ["user invite bo@example.com", 0, ""],
  ["user list", 0, "No members yet"],
  ["user invite notmail", 2, "not an email address"],
  ["user invite a@example.com --role boss", 2, "Allowed choices"],
  ["user reset nobody@example.com", 4, "nobody@example.com"],
  ["user reset-factor", 2, "email"],
  ["user reset-factor nobody@example.com", 4, "no member has the address nobody@example.com"],
  ["user directory", 0, "No directory tokens yet"],
  ["user directory Okta", 0, "/scim/v2"],
  ["user directory --revoke nope", 4, "token not found: nope"],
  ["user chat nobody@example.com slack/U1", 4, "nobody@example.com"],
  ["user chat bo@example.com U1", 2, "slack/ID"],
  [
    "automation add P --preset nope",
    2,
    "Presets: stale-references, merged-code, links, screenshots, changelog, translations, support-tickets, release-issues",
  ],
  ["automation add P --preset changelog", 2, "needs a language model"],
  ["automation add P --preset links weekly", 0, 'Added "weekly"'],
  ["automation add P x y --on merged", 2, "--on is for --pull-request"],
  ["claims list P --state nope", 2, "--state must be one of new, same, changed, gone"],
  ["claims list P", 0, "No claims. Add one"],
  ["claims add P docs/a.md", 2, "missing required argument 'source'"],
  ["claims add P a.md b.ts:1", 2, "page must be path:line"],
  ["claims add P a.md:1 @nope/b.ts:1", 2, 'no context repository "nope"'],
  ["claims add P a.md:1 b.ts:1", 0, "Added."],
  ["claims confirm P nope", 4, "Claim not found."],
  ["claims remove P nope", 4, "Claim not found."],
  ["automation add P n x --cron banana", 2, '"banana" is not a cron expression'],
  ["automation add P n x --cron banana --push api", 2, "give one of"],
  ["automation add P n {{this}}", 2, "Unknown variable {{this}}"],
  ["automation add P n x --model nope/x", 2, "one that the project allows"],
  ["automation add nope n x", 4, "project not found: nope"],
  ["automation add P taken x", 4, "already has an automation"],
  ["automation list --project nope", 4, "project not found: nope"],
  ["automation list --project P", 0, ""],
  ["automation show nope", 4, "automation not found: nope"],
  ["automation show A", 0, ""],
  ["automation run nope", 4, "automation not found: nope"],
  ["automation edit A", 2, "no change given"],
  ["automation edit A --cron banana", 2, '"banana" is not a cron expression'],
  ["automation edit A --include src/**", 2, "are for --push"],
  ["automation edit A --prompt {{this}}", 2, "Unknown variable"],
  ["automation edit nope --prompt x", 4, "automation not found: nope"],
  ["automation pause nope", 4, "automation not found: nope"],
  ["automation resume nope", 4, "automation not found: nope"],
  ["automation remove nope", 4, "automation not found: nope"],
  ["webhook add ftp://x --project P", 2, "begin with https://, or http:// where private addresses are allowed"],
  ["webhook add http://169.254.169.254/ --project P", 2, "url must not be a link-local or metadata address"],
  ["webhook add nonsense --project P", 2, "must be a URL"],
  ["webhook add https://example.com/ --project P --event bogus", 2, "job.completed, job.failed"],
  ["webhook add https://example.com/ --project P --format xml", 2, "Allowed choices are standard, slack"],
  ["webhook add https://example.com/ --project nope", 4, "project not found: nope"],
  ["webhook list", 2, "there are several projects; give an id: prj_"],
  ["webhook list --project nope", 4, "project not found: nope"],
  ["webhook list --project P", 0, "There is no webhook yet"],
  ["webhook deliveries nope", 4, "Webhook not found: nope"],
  ["webhook redeliver nope", 4, "Delivery not found: nope"],
  ["webhook enable nope", 4, "Webhook not found: nope"],
  ["webhook disable nope", 4, "Webhook not found: nope"],
  ["webhook test nope", 4, "Webhook not found: nope"],
  ["webhook rotate nope", 4, "Webhook not found: nope"],
  ["budget --usd lots", 2, "Use a number from 0, or none."],
  ["budget --jobs 1.5", 2, "Use a whole number, or none."],
  ["budget", 0, "No monthly budget is set."],
  ["webhook remove nope", 4, "Webhook not found: nope"],
  ["login foo", 2, "the address foo is not a URL"],
  ["profile list", 0, "not logged in"],
  ["profile use nope", 4, "there is no profile nope"],
  ["profile remove nope", 4, "there is no profile nope"],
  ["job create P", 2, "missing required argument 'prompt'"],
  ["job create P x --max-cost much", 2, "in US dollars"],
  ["job create P x --model nope/x", 2, "one that the project allows"],
  ["job create nope x", 4, "Project not found."],
  ["job create P Nonsense. --wait", 3, "failed (instruction_not_understood)"],
  ["job preview P", 2, "missing required argument 'prompt'"],
  ["job preview nope x", 4, "Project not found."],
  ["job preview P Nonsense.", 3, "failed (instruction_not_understood)"],
  ["job get P nope", 4, "Job not found."],
  ["job list P --status nope", 2, "Allowed choices are active"],
  ["job list P --limit 0", 2, "at least 1"],
  ["job list nope", 4, "Project not found."],
  ["job watch P nope", 4, "Job not found."],
  ["job run P nope", 4, "Job not found."],
  ["job diff P nope", 4, "Job not found."],
  ["job message P", 2, "missing required argument 'id'"],
  ["job message P nope x", 4, "Job not found."],
  ["job cancel P nope", 4, "Job not found."],
  ["job retry P nope", 4, "Job not found."],
  ["job publish P nope", 4, "Job not found."],
  ["job approve P nope", 4, "Job not found."],
  ["job decline P nope", 4, "Job not found."],
  ["job archive P nope", 4, "Job not found."],
  ["job report nope", 4, "job not found: nope"],
  ["lsp --nope", 2, "unknown option '--nope'"],
  ["mcp --nope", 2, "unknown option '--nope'"],
  ["doctor", 0, ""],
  ["doctor --data N", 1, "marked with ✗: database"],
  ["backup D", 2, "exists already"],
  ["backup N --data N", 4, "no installation in"],
  ["restore E --data N", 2, "has no manifest.json"],
  ["completion tcsh", 2, "bash, zsh, fish"],
  ["completion bash", 0, ""],
];

let emend: Installation;
let words: Record<string, string>;
beforeAll(async () => {
  emend = await startInstallation();
  const args = ["automation", "add", emend.project, "taken", "x", "--data", emend.dataDir];
  const { stdout } = await runInProcess(args);
  words = { P: emend.project, A: stdout.trim(), D: join(emend.dir, "docs"), N: join(emend.dir, "nowhere") };
  Object.assign(words, { F: join(emend.dir, "docs", "docs.json"), E: join(emend.dir, "nothing") });
  await mkdir(join(emend.dir, "nothing"));
}, 120_000);
afterAll(() => emend.stop());

describe("exit codes", () => {
  test.each(rows)("emend %s: %d", async (line, code, says) => {
    const args = line.split(" ").flatMap((word) => (word === "" ? [] : [words[word] ?? word]));
    const env = {
      ...emend.env,
      TOKEN: "token",
      EMEND_DATA_DIR: emend.dataDir,
      XDG_CONFIG_HOME: join(emend.dir, "nobody"),
    };
    const finished = await runInProcess(args, { env, input: "emend_no" });
    expect(finished).toMatchObject({ code, stderr: expect.stringContaining(says) });
    // A refusal prints nothing that a script could take for a result. The list of `doctor` is a result.
    if ((code === 2 || code === 4) && line !== "") {
      expect(finished.stdout).toBe("");
      expect(finished.stderr).toMatch(line.startsWith("serve --role api") ? /^(emend: .+\n){3}$/ : /^emend: .+\n$/);
    }
  });

  test("a refused command creates nothing", async () => {
    await expect(access(words.N ?? "")).rejects.toThrow("ENOENT");
  });

  test("a server that is away is a fault, a key that it does not know is a refusal", async () => {
    const away = await runInProcess(["job", "list", "p"], { env: { ...emend.env, EMEND_URL: "http://127.0.0.1:1" } });
    expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining("is the server up?") });
    const unknown = await runInProcess(["job", "list", "p"], { env: { ...emend.env, EMEND_API_KEY: "emend_no" } });
    expect(unknown).toMatchObject({ code: 4, stderr: expect.stringContaining("is EMEND_API_KEY right") });
  });

  test("an archive is restored only into an empty installation", async () => {
    const archive = join(emend.dir, "archive");
    const env = { EMEND_DATA_DIR: emend.dataDir };
    const written = await runInProcess(["backup", archive], { env });
    expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining("the file `secret` of the data folder") });
    expect(await runInProcess(["restore", archive, "--data", words.N ?? ""])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/another EMEND_SECRET: .* the file `secret` of the old data folder\)\n$/),
    });
    await expect(access(words.N ?? "")).rejects.toThrow("ENOENT");
    expect(await runInProcess(["restore", archive], { env })).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("is not empty"),
    });
    await writeFile(join(archive, "manifest.json"), "{}");
    expect((await runInProcess(["restore", archive], { env })).code).toBe(2);
  });

  test("invited people are listed, and a revoked key is reported as revoked", async () => {
    const env = { EMEND_DATA_DIR: emend.dataDir };
    const invited = await runInProcess(["user", "invite", "cy@example.com", "--role", "viewer"], { env });
    expect(invited.code).toBe(0);
    expect((await runInProcess(["user", "list"], { env })).stdout).toMatch(
      /^cy@example.com +viewer +invited .+ until 2/m,
    );
    const listed = JSON.parse((await runInProcess(["user", "list", "--json"], { env })).stdout);
    const entry = { email: "cy@example.com", role: "viewer", status: "invited", expiresAt: expect.any(String) };
    expect(listed).toContainEqual(expect.objectContaining(entry));

    const created = await runInProcess(["key", "create", "--project", emend.project, "--json"], { env });
    const revoke = () => runInProcess(["key", "revoke", JSON.parse(created.stdout).id], { env });
    expect(await revoke()).toMatchObject({ code: 0, stderr: expect.stringContaining("Revoked. It stops") });
    expect(await revoke()).toMatchObject({ code: 0, stderr: "It was already revoked.\n" });
  });

  test("doctor has a line for each bad setting, and looks at what does not rest on them", async () => {
    const env = { EMEND_DATA_DIR: emend.dataDir, EMEND_PORT: "many", EMEND_MODEL: "nope" };
    const { code, stdout, stderr } = await runInProcess(["doctor"], { env });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "emend: marked with ✗: settings\n" });
    expect(stdout).toMatch(
      /^✗ settings +EMEND_PORT must be .+\n✗ settings|^✗ settings +EMEND_MODEL must be .+\n✗ settings/m,
    );
    expect(stdout).toMatch(/^✓ database +embedded Postgres answers/m);
    expect(stdout).toMatch(/^· model +not checked/m);
  });

  test("docs/cli.md tells every code and no other", async () => {
    const page = await readFile(join(import.meta.dirname, "../../../docs/cli.md"), "utf8");
    const told = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
    expect(told).toEqual(Object.values(exitCodes));
  });

  test("every command is in the table", () => {
    const streams = { stdout: process.stdout, stderr: process.stderr };
    const leaves = commandTree(buildProgram(streams as unknown as Cli)).filter(({ commands }) => commands.length === 0);
    // `check` has its own exit codes, and another test for them.
    const untold = leaves
      .map(({ path }) => path)
      .filter((path) => path !== "check" && !rows.some(([line]) => `${line} `.startsWith(`${path} `)));
    expect(untold).toEqual([]);
  });

  test("every command accepts --json, but for those that speak only JSON", () => {
    const streams = { stdout: process.stdout, stderr: process.stderr };
    const without = commandTree(buildProgram(streams as unknown as Cli))
      .filter(({ commands, options }) => commands.length === 0 && !options.some(({ flag }) => flag === "--json"))
      .map(({ path }) => path);
    expect(without).toEqual(["lsp", "mcp"]);
  });
});
