import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import type { CheckOptions } from "./run-check.ts";

/** Adds `emend check [DIR]` to the program. */
export function registerCheckCommand(program: Command, cli: Cli): void {
  program
    .command("check")
    .description("Check a folder of docs: links, anchors, navigation, redirects, front matter, MDX")
    .argument("[dir]", "the folder to check", ".")
    .addOption(
      new Option("--watch", "check again whenever a file changes, until Ctrl-C").conflicts(["fix", "sarif", "gitlab"]),
    )
    .addOption(new Option("--json", "print the findings as JSON").conflicts(["sarif", "gitlab"]))
    .addOption(new Option("--sarif", "print the findings as SARIF 2.1.0").conflicts("gitlab"))
    .option("--gitlab", "print the findings as a code quality report of GitLab")
    .option("--fix", "apply the fixes that are certain, then report what remains")
    .option("--base <ref>", "report only what is new since this commit or branch")
    .addOption(
      new Option(
        "--source <dir[@rev]>",
        "compare what the docs name with this code: a folder, DIR@rev, or DIR@old..new (repeatable)",
      )
        .argParser((name: string, earlier: string[] | undefined) => [...(earlier ?? []), name])
        .conflicts(["watch", "base"]),
    )
    .addOption(
      new Option("--trust", "run the site's configuration in a sandbox, instead of reading its text").conflicts([
        "watch",
        "base",
      ]),
    )
    .option("--docs <folder>", "the docs folder inside it (default: detected)")
    .option("--mdx", "judge MDX by the full parser on every page, not only on small sites")
    .option("--info", "show the lesser findings too")
    .option("--schema", "print the JSON schema of .emend/check.json, for editors")
    .option("--no-cache", "read every page again and store nothing")
    .action(async (dir: string, options: CheckOptions) => {
      // Only here: loading it takes as long as everything else together.
      const { runCheck } = await import("./run-check.ts");
      process.exitCode = await runCheck(cli, resolve(dir), options);
    });
}
