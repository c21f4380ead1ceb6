import { CommanderError } from "commander";
import { type Cli, CliError, exitCodes } from "./cli.ts";
import { describeError } from "./describe-error.ts";
import { buildProgram } from "./program.ts";

/** Runs one command line and returns the exit code. */
export async function runCli(cli: Cli, args: readonly string[]): Promise<number> {
  try {
    await buildProgram(cli).parseAsync(args, { from: "user" });
    return exitCodes.done;
  } catch (error) {
    // Commander has said its word by itself; help and version end this way too.
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    // Whatever broke after Ctrl-C broke because of it, since the terminal interrupts child processes too; but a command
    // may have its own words for being interrupted.
    const isBroken = cli.signal.aborted && !(error instanceof CliError);
    const { message, exitCode } = describeError(isBroken ? cli.signal.reason : error, cli.env);
    if (message !== "") cli.stderr.write(`emend: ${message}\n`);
    if (cli.env.EMEND_DEBUG && error instanceof Error) cli.stderr.write(`${error.stack}\n${stackOfCause(error)}`);
    return exitCode;
  }
}

function stackOfCause(error: Error): string {
  return error.cause instanceof Error ? `because of ${error.cause.stack}\n${stackOfCause(error.cause)}` : "";
}
