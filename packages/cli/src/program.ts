import type { Command } from "commander";
import { registerCheckCommand } from "./check/check-command.ts";
import type { Cli } from "./cli.ts";
import { registerAutomationAdd } from "./commands/automation-add.ts";
import { registerAutomationEdit } from "./commands/automation-edit.ts";
import { registerAutomationList } from "./commands/automation-list.ts";
import { registerAutomationRun } from "./commands/automation-run.ts";
import { registerAutomationShow } from "./commands/automation-show.ts";
import { registerAutomationState } from "./commands/automation-state.ts";
import { registerBackup, registerRestore } from "./commands/backup.ts";
import { registerCompletion } from "./commands/completion.ts";
import { registerDemo } from "./commands/demo.ts";
import { registerDoctor } from "./commands/doctor.ts";
import { registerJobArchive } from "./commands/job-archive.ts";
import { registerJobCancel } from "./commands/job-cancel.ts";
import { registerJobCreate } from "./commands/job-create.ts";
import { registerJobDiff } from "./commands/job-diff.ts";
import { registerJobGet } from "./commands/job-get.ts";
import { registerJobList } from "./commands/job-list.ts";
import { registerJobMessage } from "./commands/job-message.ts";
import { registerJobPreview } from "./commands/job-preview.ts";
import { registerJobReport } from "./commands/job-report.ts";
import { registerJobRetry } from "./commands/job-retry.ts";
import { registerJobRun } from "./commands/job-run.ts";
import { registerJobWatch } from "./commands/job-watch.ts";
import { registerKeyCreate } from "./commands/key-create.ts";
import { registerKeyList } from "./commands/key-list.ts";
import { registerKeyRevoke } from "./commands/key-revoke.ts";
import { registerLogin } from "./commands/login.ts";
import { registerLsp } from "./commands/lsp.ts";
import { registerMcp } from "./commands/mcp.ts";
import { registerModelKey } from "./commands/model-key.ts";
import { registerProfile } from "./commands/profile.ts";
import { registerProjectAdd } from "./commands/project-add.ts";
import { registerProjectContext } from "./commands/project-context.ts";
import { registerProjectDoctor } from "./commands/project-doctor.ts";
import { registerProjectList } from "./commands/project-list.ts";
import { registerProjectSet } from "./commands/project-set.ts";
import { registerSecretsRotate } from "./commands/secrets-rotate.ts";
import { registerServe } from "./commands/serve.ts";
import { registerUserInvite } from "./commands/user-invite.ts";
import { registerUserLink } from "./commands/user-link.ts";
import { registerUserList } from "./commands/user-list.ts";
import { registerUserReset } from "./commands/user-reset.ts";
import { registerWebhookAdd } from "./commands/webhook-add.ts";
import { registerWebhookDeliveries } from "./commands/webhook-deliveries.ts";
import { registerWebhookList } from "./commands/webhook-list.ts";
import { registerWebhookState } from "./commands/webhook-state.ts";
import { ProseCommand } from "./prose-command.ts";
import { version } from "./version.ts";

/** The whole command line, one command a file. */
export function buildProgram(cli: Cli): Command {
  const program = new ProseCommand("emend")
    .description("Turns an instruction into a pull request on your documentation.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.stdout.write(text),
      writeErr: (text) => cli.stderr.write(text),
      outputError: (text, write) => write(text),
    });

  registerServe(program, cli);
  registerDemo(program, cli);

  const project = group(program, "project", "the docs repositories that Emend works on");
  registerProjectAdd(project, cli);
  registerProjectList(project, cli);
  registerProjectSet(project, cli);
  registerProjectDoctor(project, cli);
  registerProjectContext(project, cli);

  const key = group(program, "key", "API keys");
  registerKeyCreate(key, cli);
  registerKeyList(key, cli);
  registerKeyRevoke(key, cli);

  const model = group(program, "model", "the language models that jobs use");
  registerModelKey(group(model, "key", "a project's own keys for them"), cli);
  registerSecretsRotate(group(program, "secrets", "what seals stored credentials"), cli);

  const user = group(program, "user", "people in a browser");
  registerUserLink(user, cli);
  registerUserList(user, cli);
  registerUserInvite(user, cli);
  registerUserReset(user, cli);

  const automation = group(program, "automation", "jobs that start on a schedule, after a push or manually");
  registerAutomationAdd(automation, cli);
  registerAutomationList(automation, cli);
  registerAutomationShow(automation, cli);
  registerAutomationRun(automation, cli);
  registerAutomationEdit(automation, cli);
  registerAutomationState(automation, cli);

  const webhook = group(program, "webhook", "webhooks for a project's events");
  registerWebhookAdd(webhook, cli);
  registerWebhookList(webhook, cli);
  registerWebhookDeliveries(webhook, cli);
  registerWebhookState(webhook, cli);

  registerLogin(program, cli);
  registerProfile(group(program, "profile", "the servers that you are logged in to"), cli);

  const job = group(program, "job", "jobs of a running server (emend login, or EMEND_URL and EMEND_API_KEY)");
  registerJobCreate(job, cli);
  registerJobPreview(job, cli);
  registerJobGet(job, cli);
  registerJobList(job, cli);
  registerJobWatch(job, cli);
  registerJobRun(job, cli);
  registerJobDiff(job, cli);
  registerJobMessage(job, cli);
  registerJobCancel(job, cli);
  registerJobRetry(job, cli);
  registerJobArchive(job, cli);
  registerJobReport(job, cli);

  registerCheckCommand(program, cli);
  registerLsp(program, cli);
  registerMcp(program, cli);
  registerDoctor(program, cli);
  registerBackup(program, cli);
  registerRestore(program, cli);
  registerCompletion(program, cli);
  return program;
}

function group(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).helpCommand(false);
}
