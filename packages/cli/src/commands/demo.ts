import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import type { DemoOptions } from "../demo/run-demo.ts";
import { withJson } from "./options.ts";

export function registerDemo(program: Command, cli: Cli): void {
  const command = program
    .command("demo")
    .description("the whole journey: a prompt becomes a pull request, on sample docs or on a copy of yours")
    .option("--repo <dir>", "your docs: a git repository or a folder; it is copied and never touched")
    .option("--docs <dir>", "folder of the docs inside it (default: found by its configuration)")
    .option("--data <dir>", "where the demo keeps its data (default: your cache folder)");
  withJson(command).action(async (options: DemoOptions) => {
    const { runDemo } = await import("../demo/run-demo.ts");
    await runDemo(cli, options);
  });
}
