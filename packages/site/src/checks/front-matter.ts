import type { OwnCheck } from "./check.ts";

export const frontMatter: OwnCheck = {
  id: "front-matter",
  severity: "error",
  *run(facts) {
    const problem = facts.frontMatter?.problem;
    if (problem === undefined) return;
    const { line, column, message } = problem;
    yield { line, column, message: `The front matter cannot be read: ${message}` };
  },
};
