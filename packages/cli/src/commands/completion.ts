import { Argument, type Command } from "commander";
import type { Cli } from "../cli.ts";

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

/** A command with the words that may follow it. */
interface CommandNode {
  /** `job create`; empty for the program itself. */
  path: string;
  commands: readonly { name: string; description: string }[];
  options: readonly { flag: string; description: string }[];
}

/** All commands, the program itself first. */
export function commandTree(command: Command, path = ""): CommandNode[] {
  const children = command.commands.filter((child) => child.name() !== "help");
  const node = {
    path,
    commands: children.map((child) => ({ name: child.name(), description: firstWords(child.description()) })),
    options: command.options.map(({ long, short, description }) => {
      return { flag: long ?? short ?? "", description: firstWords(description) };
    }),
  };
  return [node, ...children.flatMap((child) => commandTree(child, `${path} ${child.name()}`.trim()))];
}

/** Descriptions are quoted for three shells, so quotes are removed. */
function firstWords(text: string): string {
  return text.replaceAll(/[^\w ,.;()/-]/g, "").slice(0, 80);
}

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

/** A script that completes commands and options without starting a program. */
function completionScript(shell: Shell, tree: readonly CommandNode[]): string {
  switch (shell) {
    case "bash":
      return bash(tree);
    case "zsh":
      return `#compdef emend\nautoload -U +X bashcompinit && bashcompinit\n${bash(tree)}`;
    case "fish":
      return fish(tree);
  }
}

function bash(tree: readonly CommandNode[]): string {
  const cases = tree.map(({ path, commands, options }) => {
    const words = [...commands.map(({ name }) => name), ...options.map(({ flag }) => flag), "--help"];
    return `    "${path}") words="${words.join(" ")}" ;;`;
  });
  const paths = tree.map(({ path }) => path).filter((path) => path !== "");
  return `_emend() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" word words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case " $path $word" in
${paths.map((path) => `      "  ${path}"|" ${path}") path="${path}" ;;`).join("\n")}
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -F _emend emend
`;
}

/** The typed words are followed as in bash: `model key` and `key` are different commands. */
function fish(tree: readonly CommandNode[]): string {
  const paths = tree.map(({ path }) => path).filter((path) => path !== "");
  const lines = tree.flatMap(({ path, commands, options }) => {
    const condition = `__emend_at '${path}'`;
    return [
      ...commands.map(
        ({ name, description }) => `complete -c emend -f -n "${condition}" -a ${name} -d "${description}"`,
      ),
      ...options.map(({ flag, description }) => {
        return `complete -c emend -n "${condition}" -l ${flag.replace(/^-+/, "")} -d "${description}"`;
      }),
    ];
  });
  return `function __emend_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$path $word")
        if contains -- "$next" ${paths.map((path) => `'${path}'`).join(" ")}
            set path "$next"
        end
    end
    test "$path" = "$argv[1]"
end
${lines.join("\n")}
`;
}
