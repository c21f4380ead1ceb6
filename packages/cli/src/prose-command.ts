import { Command, type ErrorOptions, type Option, type ParseOptionsResult } from "commander";

/** No argument of a process can hold it. */
const mark = "\u0000";
/** `- list item`, `--- front matter`, `-5 degrees is cold`: no option is written like that. */
const prose = /^-(-+|[^-\s=]*)\s/;

/** A command whose arguments may be prose, which may begin with a dash, and whose refusals fit in one line. */
export class ProseCommand extends Command {
  override createCommand(name?: string): Command {
    return new ProseCommand(name);
  }

  override parseOptions(args: string[]): ParseOptionsResult {
    const { operands, unknown } = super.parseOptions(this.#markProse(args));
    return { operands: operands.map(unmark), unknown: unknown.map(unmark) };
  }

  override error(message: string, options?: ErrorOptions): never {
    const words = message
      .trim()
      .replace(/^error: /, "")
      .replace(/^option '(?:-\w, )?(--[\w-]+).*?' argument '(.*)' is invalid\./s, '$1 cannot be "$2".')
      .replace(/^command-argument value '(.*)' is invalid for argument '([\w-]+)'\./s, '$2 cannot be "$1".')
      .replace(/\s*\n\(Did you mean (.+)\?\)$/s, ": did you mean $1?");
    const hint = words.endsWith("?") || this.registeredArguments.length === 0 ? "" : hintOf(options?.code);
    return super.error(`emend: ${words}${hint} (\`${pathOf(this)} --help\` shows how)`, options);
  }

  /** Hides the dash from the parser, except where an option takes the word as its value anyway. */
  #markProse(args: readonly string[]): string[] {
    const marked: string[] = [];
    let taking: "none" | "one" | "many" = "none";
    for (const arg of args) {
      if (arg === "--") return [...marked, ...args.slice(marked.length)];
      const option = this.options.find(({ long, short }) => arg === long || arg === short);
      marked.push(taking === "none" && prose.test(arg) ? `${mark}${arg}` : arg);
      if (option) taking = valuesOf(option);
      else if (taking === "one") taking = "none";
    }
    return marked;
  }
}

function valuesOf({ required, optional, variadic }: Option): "none" | "one" | "many" {
  if (!required && !optional) return "none";
  return variadic ? "many" : "one";
}

/** What people who type prose forget. */
function hintOf(code: string | undefined): string {
  if (code === "commander.unknownOption") return "; put -- before a text that begins with a dash";
  if (code === "commander.excessArguments") return " Put quotation marks around a text of several words.";
  return "";
}

function unmark(arg: string): string {
  return arg.startsWith(mark) ? arg.slice(mark.length) : arg;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
