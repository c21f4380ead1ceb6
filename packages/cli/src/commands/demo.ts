import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import type { DemoOptions } from "../demo/run-demo.ts";
import { parsePort, withJson } from "./options.ts";

export function registerDemo(program: Command, cli: Cli): void {
  const command = program
    .command("demo")
    .description("try Emend: run a job on sample docs, or a copy of your docs, and open its pull request")
    .option("--repo <dir>", "your docs: a git repository or a folder; it is copied and never touched")
    .option("--prompt <prompt>", "what the job does (default on your docs: Fix broken links.)")
    .option("--docs <dir>", "docs folder inside it (default: detected)")
    .option("--drift", "show how the docs follow a pull request that changes the code's flags")
    .option("--data <dir>", "where the demo keeps its data (default: your cache folder)")
    .option("--port <n>", "port of the demo's server (default: the first free one from 4610)", parsePort);
  withJson(command).action(async (options: DemoOptions) => {
    const { runDemo } = await import("../demo/run-demo.ts");
    await runDemo(cli, options);
  });
}
