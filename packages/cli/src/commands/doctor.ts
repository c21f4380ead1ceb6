import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { type Examination, examine } from "../doctor/examine.ts";
import { printResult } from "../output.ts";
import { asTyped } from "../run-as.ts";
import { safeText } from "../terminal/format.ts";
import { withData, withJson } from "./options.ts";

interface DoctorOptions {
  data?: string;
  json?: boolean;
}

export function registerDoctor(program: Command, cli: Cli): void {
  const command = program.command("doctor").description("what is configured, what is reachable, what is missing");
  withJson(withData(command)).action((options: DoctorOptions) => doctor(cli, options));
}

const marks = { good: "✓", note: "·", bad: "✗" } as const;

async function doctor(cli: Cli, options: DoctorOptions): Promise<void> {
  const examinations = await examine(cli, options);
  const bad = examinations.filter(({ verdict }) => verdict === "bad");
  printResult(cli, options, { ok: bad.length === 0, examinations }, examinations.map(lineOf).join("\n"));
  if (bad.length > 0)
    throw new CliError("fault", `${[...new Set(bad.map(({ name }) => name))].join(", ")}: see above what to do`);
}

function lineOf({ name, verdict, detail, advice }: Examination): string {
  const line = `${marks[verdict]} ${name.padEnd(11)} ${safeText(detail)}`;
  return advice === undefined ? line : `${line}\n${" ".repeat(14)}${asTyped(safeText(advice))}`;
}
