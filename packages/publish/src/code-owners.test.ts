import { expect, test } from "vitest";
import { ownersOf, readCodeOwners, withReviewers } from "./code-owners.ts";

const github = `# Who owns what
*                 @everyone
*.mdx             @writers-lead   # pages
/guides/          @ada @acme/guides
docs/*            @docs-only-here
api/ @api
/guides/secret.md
mail.md           someone@acme.test
`;

test.each([
  ["README.md", ["everyone"]],
  ["deep/page.mdx", ["writers-lead"]],
  ["guides/start.mdx", ["ada"]],
  ["docs/one.md", ["docs-only-here"]],
  ["docs/deep/one.md", ["everyone"]],
  ["any/where/api/x.md", ["api"]],
  ["guides/secret.md", []],
  ["mail.md", []],
])("of %s the last rule that matches counts", (path, people) => {
  expect(ownersOf(github, [path]).people).toEqual(people);
});

test("teams are told apart from people, and each is named once", () => {
  expect(ownersOf(github, ["guides/a.md", "guides/b.md", "README.md"])).toEqual({
    people: ["ada", "everyone"],
    teams: ["acme/guides"],
  });
});

test("in GitLab's sections each has its own last rule, and its own usual owners", () => {
  const gitlab = "* @root\n[Docs][2] @docs-lead\ndocs/\n^[Optional]\n*.md @eve\n";
  expect(ownersOf(gitlab, ["docs/a.md"]).people).toEqual(["root", "docs-lead", "eve"]);
  expect(ownersOf(gitlab, ["a.txt"]).people).toEqual(["root"]);
});

test("the first place that has the file counts, and one that is too large does not", async () => {
  const at = (files: Record<string, Buffer>) =>
    readCodeOwners({
      async read(path) {
        const found = files[path];
        if (!found) throw new Error("not found");
        return found;
      },
    });
  expect(await at({})).toBeNull();
  expect(await at({ CODEOWNERS: Buffer.from("a"), ".github/CODEOWNERS": Buffer.from("b") })).toBe("b");
  expect(await at({ CODEOWNERS: Buffer.alloc(300 * 1024) })).toBeNull();
});

test("owners with odd names are nobody, and there are never many", () => {
  expect(ownersOf("* @a;b <x> @ok", ["x"]).people).toEqual(["ok"]);
  const many = Array.from({ length: 30 }, (_, index) => `@p${index}`).join(" ");
  expect(ownersOf(`* ${many}`, ["x"]).people).toHaveLength(10);
});

test("owners are reviewers only where the project wants it, and only teams of the repository's organization", () => {
  const forge = { reviewers: ["eve"], teamReviewers: [], codeOwners: true };
  const project = { repositoryUrl: "https://github.test/Acme/docs", settings: { forge } };
  const owners = { people: ["ada", "eve"], teams: ["acme/writers", "other/team", "acme/sub/team"] };
  expect(withReviewers(project, owners).settings.forge).toMatchObject({
    reviewers: ["eve", "ada"],
    teamReviewers: ["writers"],
  });
  const off = { ...project, settings: { forge: { ...forge, codeOwners: false } } };
  expect(withReviewers(off, owners)).toBe(off);
});
