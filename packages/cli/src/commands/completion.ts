import { Argument, type Command } from "commander";
import type { Cli } from "../cli.ts";
import { commandTree } from "../completion/command-tree.ts";
import { completionScript, type Shell, shells } from "../completion/scripts.ts";

export function registerCompletion(program: Command, cli: Cli): void {
  program
    .command("completion")
    .description("print a script that completes commands, for your shell to read at its start")
    .addArgument(new Argument("<shell>", "your shell").choices(shells))
    .option("--json", "print the script as JSON")
    .action((shell: Shell, options: { json?: boolean }) => {
      const script = completionScript(shell, commandTree(program));
      cli.stdout.write(options.json ? `${JSON.stringify({ shell, script })}\n` : script);
    });
}
