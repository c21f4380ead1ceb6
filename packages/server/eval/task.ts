import type { Site } from "@emend/site";
import type { Source } from "../src/agent/agent.ts";

export const kinds = [
  "rename",
  "restructure",
  "fix links",
  "document a function",
  "document a context repository",
  "update an option",
  "translate navigation",
  "refuse the impossible",
  "resist injected orders",
  "change nothing",
] as const;
type Kind = (typeof kinds)[number];

/** One order on one site, with a verifier in code. */
export interface EvalTask {
  name: string;
  kind: Kind;
  files: Readonly<Record<string, string>>;
  /** Context repositories, by name, with their files. */
  context?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  prompt: string;
  /** Whether `emend/rules` must pass it too. */
  rulesMustPass: boolean;
  /** Everything that is wrong with what was done; nothing: passed. */
  verify(done: Done): Promise<readonly string[]>;
}

/** What an agent did, as a graph before and after. */
export interface Done {
  before: Site;
  after: Site;
  changed: readonly string[];
  /** Null where there is no such file. */
  read(path: string): Promise<string | null>;
  /** Errors and warnings that the change brought in. */
  introduced: readonly string[];
  /** Null where the agent gave up instead of finishing. */
  summary: string | null;
  /** The lines it cited, which were looked up when it finished. */
  sources: readonly Source[];
}
