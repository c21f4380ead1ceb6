import { describe, expect, it } from "vitest";
import { plainSettings } from "./forge.ts";
import { checkCredential, normalizeRepository } from "./registry.ts";

const settings = (apiUrl: string | null = null) => ({ ...plainSettings, apiUrl });

describe("a repository's address", () => {
  it.each([
    ["github", "https://github.com/acme/docs", "https://github.com/acme/docs", "https://api.github.com"],
    ["github", "https://github.com/acme/docs.git/", "https://github.com/acme/docs", "https://api.github.com"],
    ["github", "github.com/acme/docs", "https://github.com/acme/docs", "https://api.github.com"],
    ["github", "git@github.com:acme/docs.git", "https://github.com/acme/docs", "https://api.github.com"],
    ["github", "ssh://git@ghe.acme.com:2222/a/b", "https://ghe.acme.com/a/b", "https://ghe.acme.com/api/v3"],
    ["github", "https://acme.ghe.com/a/b", "https://acme.ghe.com/a/b", "https://api.acme.ghe.com"],
    ["gitlab", "https://gitlab.com/a/b/c/d/", "https://gitlab.com/a/b/c/d", "https://gitlab.com/api/v4"],
    [
      "gitlab",
      "https://git.acme.com:8443/a/b/-/tree/main",
      "https://git.acme.com:8443/a/b",
      "https://git.acme.com:8443/api/v4",
    ],
    ["gitea", "https://codeberg.org/Acme/Docs.git", "https://codeberg.org/Acme/Docs", "https://codeberg.org/api/v1"],
    [
      "bitbucket",
      "https://bitbucket.org/acme/docs/",
      "https://bitbucket.org/acme/docs",
      "https://api.bitbucket.org/2.0",
    ],
    ["bitbucket", "https://ada@bitbucket.org/a/b.git", "https://bitbucket.org/a/b", "https://api.bitbucket.org/2.0"],
    ["bitbucket", "git@bitbucket.org:a/b.git", "https://bitbucket.org/a/b", "https://api.bitbucket.org/2.0"],
    ["gitea", "http://127.0.0.1:3000/a/b", "http://127.0.0.1:3000/a/b", "http://127.0.0.1:3000/api/v1"],
  ] as const)("on %s, %s", (forge, given, url, apiUrl) => {
    expect(normalizeRepository(forge, given, settings())).toMatchObject({ url, apiUrl });
  });

  it("may lie below the folder that its forge is served from", () => {
    const given = "https://acme.com/git/a/b";
    expect(normalizeRepository("gitea", given, settings("https://acme.com/git/api/v1/"))).toMatchObject({
      url: given,
      apiUrl: "https://acme.com/git/api/v1",
      owner: "a",
      name: "b",
    });
    const nested = normalizeRepository("gitlab", "https://acme.com/git/a/b/c", settings("https://acme.com/git/api/v4"));
    expect(nested).toMatchObject({ projectPath: "a/b/c" });
  });

  it("may be http where its API is said to be", () => {
    const api = settings("http://gitea:3000/api/v1");
    expect(normalizeRepository("gitea", "http://gitea:3000/a/b", api)).toMatchObject({ url: "http://gitea:3000/a/b" });
  });

  it.each([
    ["github", "https://ada:secret@github.com/acme/docs", /contains a credential/],
    ["github", "https://token@github.com/acme/docs", /contains a credential/],
    ["github", "https://github.com/acme", /owner and a repository/],
    ["github", "https://github.com/acme/docs/tree/main", /nothing after them/],
    ["github", "https://github.com/acme/docs?tab=readme", /a query/],
    ["gitea", "http://gitea.acme.com/a/b", /unencrypted/],
    ["gitea", "ftp://acme.com/a/b", /full URL/],
    ["gitea", "file:///etc/passwd", /full URL/],
    ["gitlab", "https://acme.com/a/%2e%2e/b", /owner and a repository/],
    ["gitlab", "https://acme.com/a/b c", /characters/],
    ["bitbucket", "https://x-token-auth:secret@bitbucket.org/a/b", /contains a credential/],
    ["bitbucket", "https://bitbucket.acme.com/scm/a/b", /nothing after them/],
    ["gitlab", "", /full URL|owner/],
  ] as const)("on %s, %s is refused", (forge, given, words) => {
    expect(() => normalizeRepository(forge, given, settings())).toThrow(words);
  });
});

it("takes no token that a header cannot carry, and no App without its key", () => {
  expect(checkCredential("gitlab", " glpat-x \n")).toBe("glpat-x");
  expect(() => checkCredential("gitlab", "a\r\nX: y")).toThrow(/spaces or line breaks/);
  expect(() => checkCredential("github", '{"appId":"1","privateKey":"no key"}')).toThrow(/appId and privateKey/);
});
