import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { KnowledgeProgram } from "@emend/knowledge";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { SettingReader } from "./setting-reader.ts";

/** Local programs that projects may ask as knowledge servers, and where programs are found. */
export interface KnowledgePrograms {
  path: string;
  byName: Readonly<Record<string, KnowledgeProgram>>;
}

const Text = Type.String({ minLength: 1, maxLength: 4_096 });
const Programs = Type.Record(
  Type.String({ pattern: "^[a-z][a-z0-9-]{0,39}$" }),
  Type.Object(
    {
      command: Type.Array(Text, { minItems: 1, maxItems: 100 }),
      folders: Type.Optional(Type.Array(Text, { maxItems: 20 })),
      env: Type.Optional(Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.String())),
    },
    { additionalProperties: false },
  ),
  { additionalProperties: false },
);
const example = '{"handbook":{"command":["mcp-server","/srv/handbook"],"folders":["/srv/handbook"]}}';

export function readKnowledgePrograms({ text, problems }: SettingReader, path: string): KnowledgePrograms {
  const given = text("EMEND_KNOWLEDGE_PROGRAMS");
  if (given === null) return { path, byName: {} };
  const read = parse(given);
  if (!read) {
    problems.push(`EMEND_KNOWLEDGE_PROGRAMS must be JSON such as ${example}`);
    return { path, byName: {} };
  }
  const byName = Object.fromEntries(
    Object.entries(read).map(([name, { command, folders = [], env = {} }]) => {
      for (const folder of folders) {
        if (isAbsolute(folder) && statSync(folder, { throwIfNoEntry: false })?.isDirectory()) continue;
        problems.push(
          `EMEND_KNOWLEDGE_PROGRAMS gives ${name} the folder ${folder}, which does not exist, or is not an absolute path of a folder`,
        );
      }
      return [name, { command: command as [string, ...string[]], folders, env }];
    }),
  );
  return { path, byName };
}

function parse(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(Programs, value) ? value : null;
  } catch {
    return null;
  }
}
