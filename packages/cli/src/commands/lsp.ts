import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { version } from "../version.ts";

export function registerLsp(program: Command, cli: Cli): void {
  program
    .command("lsp")
    .description("serve an editor over standard input and output (Language Server Protocol)")
    .option("--stdio", "what many editors add; there is no other way")
    .action(async () => {
      const { serveLsp } = await import("@emend/lsp");
      await serveLsp({ input: cli.stdin, output: cli.stdout }, version, cli.signal);
    });
}
