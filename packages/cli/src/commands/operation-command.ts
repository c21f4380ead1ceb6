import { type OperationInput, type OperationName, type OperationOutput, operations } from "@emend/contract";
import type { Command, Option } from "commander";
import { type Cli, printResult, say } from "../cli.ts";
import { table } from "../terminal/format.ts";
import { withAdmin } from "../with-admin.ts";
import { projectIdOf, projectWords } from "./jobs-of.ts";
import { type AdminOptions, withData, withJson } from "./options.ts";

/** What the command line adds to an operation's row: names, and how the answer reads. */
interface CommandRow<Name extends OperationName> {
  /** Its last word. */
  word: string;
  /** The field that is typed without an option, and what it is. */
  argument?: readonly [field: keyof OperationInput<Name> & string, text: string];
  /** Options by the field that they fill. */
  options?: Partial<Record<keyof OperationInput<Name>, Option>>;
  /** What `--json` prints, if it is not the whole answer. */
  json?(answer: OperationOutput<Name>, input: OperationInput<Name>): unknown;
  /** For programs: what is printed without `--json`. */
  prints?(answer: OperationOutput<Name>): string;
  /** A table with its heading; empty: there is nothing. */
  rows?(answer: OperationOutput<Name>): readonly (readonly string[])[];
  /** For people, beside what is printed. */
  tells(answer: OperationOutput<Name>): readonly string[];
}

/** Adds the command of an operation. It asks the installation of `--data` or the environment, as the console. */
export function registerOperation<Name extends OperationName>(
  group: Command,
  cli: Cli,
  name: Name,
  row: CommandRow<Name>,
): void {
  const { summary, input: schema } = operations[name];
  const command = group.command(row.word).description(`${summary[0]?.toLowerCase()}${summary.slice(1)}`);
  const [field, text] = row.argument ?? [];
  if (field !== undefined) command.argument(`<${field}>`, text);
  const ofProject = "projectId" in schema.properties;
  if (ofProject) command.option("--project <project>", projectWords);
  const options = Object.entries(row.options ?? {}) as [string, Option][];
  for (const [, option] of options) command.addOption(option);

  withJson(withData(command)).action(async (...words: unknown[]) => {
    const given = words.at(-2) as AdminOptions & Record<string, unknown>;
    const [answer, input] = await withAdmin(cli, given, async (admin) => {
      const projectId = ofProject ? await projectIdOf(cli, admin, given.project as string | undefined) : undefined;
      const filled = options.flatMap(([key, option]) => {
        const value = given[option.attributeName()];
        return value === undefined ? [] : [[key, value]];
      });
      const input = {
        ...Object.fromEntries(filled),
        ...(ofProject && { projectId }),
        ...(field !== undefined && { [field]: words[0] }),
      } as OperationInput<Name>;
      return [await admin.carryOut(name, input), input] as const;
    });
    const rows = row.rows?.(answer) ?? [];
    const json = row.json?.(answer, input) ?? answer;
    if (given.json || rows.length > 1 || row.prints)
      printResult(cli, given, json, rows.length > 1 ? table(rows) : (row.prints?.(answer) ?? ""));
    for (const line of row.tells(answer)) say(cli, given, line);
  });
}
