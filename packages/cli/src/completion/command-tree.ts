import type { Command } from "commander";

/** A command with the words that may follow it. */
export interface CommandNode {
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
