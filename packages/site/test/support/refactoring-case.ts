import type { Files } from "./memory-tree.ts";

/** One refactoring of a site, or a sequence. */
export type Step =
  | { move: string; to: string }
  | { remove: string; to: string }
  | { page: string; heading: string; to: string };

/**
 * A small site that its real builder accepts, and refactorings after which the builder must still accept it. `builder` has
 * the files that only the builder needs.
 */
export interface RefactoringCase {
  framework: string;
  name: string;
  files: Files;
  builder: Files;
  /** The site's base path. Absent: the root. */
  base?: string;
  steps: readonly Step[];
  /** Texts that files must contain afterwards. */
  after: Record<string, readonly string[]>;
}
