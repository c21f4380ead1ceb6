import type { Forge, PullRequestDraft } from "@emend/forges";
import { beforeAll, describe, expect, it } from "vitest";

/** A repository on a forge. The suite acts on it as a person would. */
export interface ForgeUnderTest {
  forge: Forge;
  base: string;
  /** The prefix of the suite's branches; `emend` by default. */
  branchPrefix?: string;
  /** Creates a branch with one commit on top of the base. */
  makeBranch(name: string): Promise<void>;
  close(number: number): Promise<void>;
  merge(number: number): Promise<void>;
  /** Comments on a pull request as a user. Absent if the forge has no conversation, or only one account. */
  say?(number: number, remark: { author: string; body: string; path?: string; line?: number }): Promise<void>;
  /** Comments cannot point to lines. */
  isWithoutLines?: boolean;
  /** The statuses of a commit, in the forge's own words. Absent if the test cannot see them. */
  statusesOf?(commit: string): Promise<readonly { name: string; state: string }[]>;
  /** The forge's word for a commit that passed. */
  passed?: string;
}

/** What publishing relies on. Every forge must pass, against the real service or its recorded responses. */
export function forgeConformance(name: string, open: () => Promise<ForgeUnderTest>): void {
  describe(`${name}, as a forge`, () => {
    const { signal } = new AbortController();
    let tested: ForgeUnderTest;
    beforeAll(async () => {
      tested = await open();
    });

    /** On a real forge, each run uses its own branches. */
    const branch = (name: string) => `${tested.branchPrefix ?? "emend"}/${name}`;

    function draftOf(head: string, more: Partial<PullRequestDraft> = {}): PullRequestDraft {
      return { head, base: tested.base, title: "A title", body: "A body", draft: false, checks: [], ...more };
    }
    async function create(head: string, more?: Partial<PullRequestDraft>) {
      const created = await tested.forge.createPullRequest(draftOf(head, more), signal);
      if (created.kind !== "created") throw new Error("a pull request was there already");
      return created.pullRequest;
    }

    it("names a repository that holds no credential in its address", async () => {
      const { url } = await tested.forge.gitRemote(signal);
      expect(new URL(url).username + new URL(url).password).toBe("");
    });

    it("lists nothing for a branch without pull requests", async () => {
      expect(await tested.forge.findPullRequests({ head: branch("none") }, signal)).toEqual([]);
    });

    it("lists what it created, with its words, under a link of its own", async () => {
      await tested.makeBranch(branch("one"));
      const created = await create(branch("one"), { body: "Why.\n\n<!-- emend:job=one -->\n", draft: true });
      const [found, ...others] = await tested.forge.findPullRequests({ head: branch("one") }, signal);
      expect(others).toEqual([]);
      expect(found).toEqual(created);
      expect(found).toMatchObject({ state: "open", draft: true, head: branch("one"), base: tested.base });
      expect(found?.body).toContain("<!-- emend:job=one -->");
      expect(URL.canParse(created.url)).toBe(true);
    });

    it("refuses a second open pull request of a branch once the first is open", async () => {
      await tested.makeBranch(branch("again"));
      await create(branch("again"));
      expect(await tested.forge.createPullRequest(draftOf(branch("again")), signal)).toEqual({ kind: "exists" });
      expect(await tested.forge.findPullRequests({ head: branch("again") }, signal)).toHaveLength(1);
    });

    it("closes a pull request, and does not mind if it is closed already", async () => {
      await tested.makeBranch(branch("withdrawn"));
      const { number } = await create(branch("withdrawn"));
      for (const _ of [1, 2]) await tested.forge.closePullRequest(number, signal);
      expect(await tested.forge.readPullRequest(number, signal)).toMatchObject({ state: "closed" });
    });

    it("lists a closed one as closed and a merged one as merged", async () => {
      for (const state of ["closed", "merged"] as const) {
        await tested.makeBranch(branch(state));
        const { number } = await create(branch(state));
        await (state === "closed" ? tested.close(number) : tested.merge(number));
        expect(await tested.forge.findPullRequests({ head: branch(state) }, signal)).toMatchObject([{ number, state }]);
      }
    });

    it("lists the newest first", async () => {
      await tested.makeBranch(branch("twice"));
      const first = await create(branch("twice"));
      await tested.close(first.number);
      const second = await create(branch("twice"));
      const found = await tested.forge.findPullRequests({ head: branch("twice") }, signal);
      expect(found.map(({ number }) => number)).toEqual([second.number, first.number]);
    });

    it("tells what becomes of a pull request, and of one that is not there", async () => {
      await tested.makeBranch(branch("read"));
      const created = await create(branch("read"));
      expect(await tested.forge.readPullRequest(created.number, signal)).toEqual(created);
      await tested.close(created.number);
      expect(await tested.forge.readPullRequest(created.number, signal)).toMatchObject({ state: "closed" });
      expect(await tested.forge.readPullRequest(987_654, signal)).toBeNull();
    });

    it("replaces the text of a pull request", async () => {
      await tested.makeBranch(branch("reworded"));
      const { number } = await create(branch("reworded"));
      await tested.forge.updatePullRequest(number, { body: "Said otherwise." }, signal);
      expect(await tested.forge.readPullRequest(number, signal)).toMatchObject({ number, body: "Said otherwise." });
      const title = { text: "Called otherwise", draft: false };
      await tested.forge.updatePullRequest(number, { body: "Again.", title, checks: [] }, signal);
      const again = await tested.forge.readPullRequest(number, signal);
      expect(again).toMatchObject({ number, body: "Again.", draft: false });
    });

    it("describes the repository", async () => {
      expect(await tested.forge.describeRepository(signal)).toMatchObject({
        path: expect.stringMatching(/\w/),
        defaultBranch: tested.base,
        archived: false,
      });
    });

    it("passes on who said what and where, and who may write", async () => {
      const { conversation } = tested.forge;
      if (!conversation) return expect(tested.say).toBeUndefined();
      await tested.makeBranch(branch("talk"));
      const { number } = await create(branch("talk"));
      if (!tested.say) {
        await conversation.comment(number, "Done.", signal);
        const [only, ...others] = await conversation.listComments(number, signal);
        expect([only?.text, only?.path, others]).toEqual(["Done.", null, []]);
        return expect(await conversation.mayWrite("emend-nobody-has-this-name", signal)).toBe("no");
      }
      await tested.say(number, { author: "ada", body: "@emend shorter, please" });
      await tested.say(number, { author: "eve", body: "And here?", path: "guides/start.md", line: 3 });
      const said = (await conversation.listComments(number, signal)).map(
        ({ id: _, authorName: __, ...comment }) => comment,
      );
      expect(said).toEqual([
        { author: "ada", text: "@emend shorter, please", path: null, line: null },
        {
          author: "eve",
          text: "And here?",
          ...(tested.isWithoutLines ? { path: null, line: null } : { path: "guides/start.md", line: 3 }),
        },
      ]);
      expect(await Promise.all(["ada", "eve", "mallory"].map((name) => conversation.mayWrite(name, signal)))).toEqual([
        "yes",
        "no",
        "no",
      ]);
      await conversation.comment(number, "Done.", signal);
      expect((await conversation.listComments(number, signal)).map(({ text }) => text)).toContain("Done.");
    });

    it("lists open pull requests with their commits, and keeps one status per name", async () => {
      const { forge, statusesOf, passed = "passed" } = tested;
      await tested.makeBranch(branch("gated"));
      const { number, url } = await create(branch("gated"));
      const find = async () => (await forge.listOpenPullRequests(signal)).find((one) => one.number === number);
      const pull = await find();
      if (!pull) throw new Error("not listed");
      expect(pull).toMatchObject({ url, title: "A title", body: "A body", head: branch("gated"), base: tested.base });
      expect(pull.isFork).toBe(false);
      const commits = await forge.readPullRequestCommits(pull, signal);
      if (!commits) throw new Error("no commits");
      expect([commits.head, commits.base]).toEqual(Array(2).fill(expect.stringMatching(/^[0-9a-f]{40}$/)));
      expect(commits.head.startsWith(pull.headCommit)).toBe(true);
      expect(commits.base).not.toBe(commits.head);
      const status = { commit: commits.head, pulls: [pull], name: "emend", words: "w".repeat(300), url };
      for (const state of ["pending", "pending", "failed", "neutral", "passed"] as const) {
        await forge.setStatus({ ...status, state }, signal);
      }
      await forge.setStatus({ ...status, name: "emend/docs", state: "passed" }, signal);
      if (statusesOf) {
        const found = (await statusesOf(commits.head)).map(({ name, state }) => `${name} ${state}`);
        expect(found.sort()).toEqual([`emend ${passed}`, `emend/docs ${passed}`]);
      }
      await tested.close(number);
      expect(await find()).toBeUndefined();
    });

    it("rejects for good, in words, what has no branch", async () => {
      await expect(tested.forge.createPullRequest(draftOf(branch("missing")), signal)).rejects.toMatchObject({
        code: "forge_rejected",
        retryable: false,
        publicMessage: expect.stringMatching(/\w/),
      });
    });
  });
}
