import type { PageCheck } from "./check.ts";

export const frontMatter: PageCheck = {
  id: "front-matter",
  severity: "error",
  *run({ page }) {
    const problem = page.facts.frontMatter?.problem;
    if (problem === undefined) return;
    const { line, column, message } = problem;
    yield { path: page.path, line, column, message: `The front matter cannot be read: ${message}` };
  },
};
