import { expect, test } from "vitest";
import { conventionalTitle, titleConventionOf } from "./draft-pull-request.ts";

const titled = (subjects: readonly string[], title: string, hasCommitlint = false) =>
  conventionalTitle(title, titleConventionOf(subjects, hasCommitlint));

test.each([
  [["feat: add a", "fix(ui): mend b", "docs: say c", "chore!: drop d"], "Rename the page", "docs: rename the page"],
  [["Doc: Say a", "Fix: Mend b", "Feat: Add c", "Fix: Mend d"], "Rename the page", "Doc: Rename the page"],
  [["feat: add a", "fix: b", "docs: c", "chore: d"], "docs(guides): rename it", "docs(guides): rename it"],
  [["feat: add a", "fix: b", "docs: c", "chore: d"], "GitHub is named", "docs: GitHub is named"],
  [[":bug: Mend a", ":sparkles: Add b", ":memo: Say c", ":bug: Mend d"], "Rename it", ":memo: Rename it"],
  [["🐛 Mend a", "✨ Add b", "📝 Say c", "🐛 Mend d"], "Rename it", "📝 Rename it"],
  [["[api] Mend a", "[ui] Add b", "[Docs] Say c", "[ui] Mend d"], "Rename it", "[Docs] Rename it"],
  [["mend a", "add b", "say c", "mend d"], "Rename it", "rename it"],
  [["mend a", "add b", "say c", "mend d"], "API keys are named", "API keys are named"],
  [["Mend a", "Add b", "Say c", "Mend d"], "Rename it", "Rename it"],
])("%j make %j into %j", (subjects, title, expected) => {
  expect(titled(subjects, title)).toBe(expected);
});

test("too few commits say nothing, nor do those that no person worded", () => {
  expect(titled(["feat: a", "fix: b"], "Rename it")).toBe("Rename it");
  const bots = ["Merge branch x", 'Revert "y"', "Bump z", "Initial commit", "feat: a", "Say b", "Mend c", "Add d"];
  expect(titled(bots, "Rename it")).toBe("Rename it");
});

test("a repository that checks its commits' words has said what they are", () => {
  expect(titled([], "Rename it", true)).toBe("docs: rename it");
});
