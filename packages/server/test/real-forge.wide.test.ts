import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createFetch } from "@emend/base/network.ts";
import { type Forge, normalizeRepository, openRemoteForge, plainSettings } from "@emend/forges";
import { forgeConformance } from "@emend/testkit/forges/conformance.ts";
import { startPublisher } from "@emend/testkit/forges/publish-far.ts";
import { startSlowProxy } from "@emend/testkit/slow-proxy.ts";
import { afterAll, describe, expect, it } from "vitest";
import { authorizationOf } from "../../forges/src/azure-devops/azure-devops-api.ts";
import { authorizationsOf } from "../../forges/src/bitbucket/bitbucket-api.ts";

const { signal } = new AbortController();
const {
  EMEND_TEST_FORGE: vendor = "",
  EMEND_TEST_FORGE_URL: repositoryUrl = "",
  EMEND_TEST_FORGE_API_URL: apiUrl = "",
  EMEND_TEST_FORGE_TOKEN: token = "",
  EMEND_TEST_FORGE_SLOW: slowSeconds = "",
} = process.env;

/** How a person closes and merges, with each vendor's API. */
const acts = {
  github: {
    authorization: `Bearer ${token}`,
    close: (path: string, number: number) => ["PATCH", `/repos/${path}/pulls/${number}`, { state: "closed" }] as const,
    merge: (path: string, number: number) => ["PUT", `/repos/${path}/pulls/${number}/merge`, {}] as const,
  },
  gitea: {
    authorization: `token ${token}`,
    close: (path: string, number: number) => ["PATCH", `/repos/${path}/pulls/${number}`, { state: "closed" }] as const,
    merge: (path: string, number: number) => ["POST", `/repos/${path}/pulls/${number}/merge`, { Do: "merge" }] as const,
  },
  bitbucket: {
    authorization: authorizationsOf(token).api,
    close: (path: string, number: number) =>
      ["POST", `/repositories/${path}/pullrequests/${number}/decline`, {}] as const,
    merge: (path: string, number: number) =>
      ["POST", `/repositories/${path}/pullrequests/${number}/merge`, {}] as const,
  },
  "azure-devops": {
    authorization: authorizationOf(token),
    close: (path: string, number: number) => ["PATCH", azurePull(path, number), { status: "abandoned" }] as const,
    merge: (path: string, number: number, commit: string) =>
      [
        "PATCH",
        azurePull(path, number),
        { status: "completed", lastMergeSourceCommit: { commitId: commit }, completionOptions: {} },
      ] as const,
  },
  gitlab: {
    authorization: `Bearer ${token}`,
    close: (path: string, number: number) =>
      ["PUT", `/projects/${encodeURIComponent(path)}/merge_requests/${number}`, { state_event: "close" }] as const,
    merge: (path: string, number: number) =>
      ["PUT", `/projects/${encodeURIComponent(path)}/merge_requests/${number}/merge`, {}] as const,
  },
};
/** Of the path of a repository's page. */
function azurePull(path: string, number: number): string {
  const [project, , repository] = path.split("/").slice(-3);
  return `/${project}/_apis/git/repositories/${repository}/pullrequests/${number}?api-version=7.1`;
}
type Act = readonly [method: string, path: string, body: object];

if (vendor === "") {
  it("has what it needs to close and merge on every forge that is on another's server", () => {
    expect(Object.keys(acts).toSorted()).toEqual(["azure-devops", "bitbucket", "gitea", "github", "gitlab"]);
    expect(acts["azure-devops"].close("acme/A%20b/_git/c", 7)[1]).toMatch(
      /^\/A%20b\/_apis\/git\/repositories\/c\/.*7\?/,
    );
    expect(acts.gitlab.close("a/b", 7)[1]).toBe("/projects/a%2Fb/merge_requests/7");
  });
} else if (vendor in acts) {
  if (slowSeconds === "") runAgainst(vendor as keyof typeof acts);
  else publishSlowly(vendor as keyof typeof acts, Number(slowSeconds));
} else throw new Error(`There is no forge "${vendor}"; there is ${Object.keys(acts).join(", ")}.`);

/**
 * Publishes through a proxy that makes every write take this long, with a wait for the answer that is longer, and with
 * one that is a little too short.
 */
function publishSlowly(name: keyof typeof acts, seconds: number): void {
  const ms = seconds * 1000;
  const cells = (["beforeMs", "afterMs"] as const).flatMap((when) =>
    [
      { waits: "long enough", secondMs: ms / 100 },
      { waits: "too short", secondMs: ms / 320 },
    ].map((wait) => ({ when, ...wait })),
  );
  describe(`against ${repositoryUrl}, ${seconds} s slower`, { timeout: 60_000 + 12 * ms }, () => {
    it.each(cells)("one pull request is opened, delayed by $when, with a wait that is $waits", async (cell) => {
      const proxy = await startSlowProxy(new URL(repositoryUrl).origin);
      const through = (url: string) => url.replace(new URL(repositoryUrl).origin, proxy.url);
      const settings = { ...plainSettings, apiUrl: apiUrl ? through(apiUrl) : null };
      const project = { id: "prj_slow", forge: name, repositoryUrl: through(repositoryUrl), settings };
      const network = createFetch({});
      const open = () => openRemoteForge({ fetch: network.fetch, tokens: new Map(), project, credential: token });
      const publisher = await startPublisher(open);
      publisher.secondMs = cell.secondMs;
      const jobId = `job_slow${Date.now()}`;
      const find = () => open().findPullRequests({ head: `emend/${jobId}` }, signal);
      try {
        proxy.delays = { beforeMs: 0, afterMs: 0, [cell.when]: ms };
        const outcome = await publisher.publish(jobId);
        expect(["opened", "found"]).toContain(outcome.kind);
        await pause(ms);
        expect(await find()).toMatchObject([{ state: "open" }]);
        expect(proxy.writes.filter((write) => write.endsWith("receive-pack"))).toHaveLength(1);
      } finally {
        proxy.delays = { beforeMs: 0, afterMs: 0 };
        for (const { number } of await find()) await open().closePullRequest(number, signal);
        await publisher.close();
        await network.close();
        await proxy.close();
      }
    });
  });
}

function runAgainst(name: keyof typeof acts): void {
  const settings = { ...plainSettings, apiUrl: apiUrl || null };
  const place = normalizeRepository(name, repositoryUrl, settings);
  const network = createFetch({});
  const project = { id: "prj_real", forge: name, repositoryUrl: place.url, settings };
  const forge = openRemoteForge({ fetch: network.fetch, tokens: new Map(), project, credential: token });
  const dir = mkdtempSync(join(tmpdir(), "emend-real-"));
  const branchPrefix = `emend-conformance-${Date.now()}`;
  const made: string[] = [];
  const opened: number[] = [];
  let path = "";
  let git: (...args: string[]) => string;

  async function act([method, below, body]: Act): Promise<void> {
    // Some forges compute whether a pull request can be merged only a while after it was opened.
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(`${place.apiUrl}${below}`, {
        method,
        headers: { authorization: acts[name].authorization, "content-type": "application/json", "user-agent": "emend" },
        body: JSON.stringify(body),
      });
      if (answer.ok) return;
      if (attempt === 10) throw new Error(`${method} ${below} was answered ${answer.status}: ${await answer.text()}`);
      await pause(1_000);
    }
  }

  describe(`against ${place.url}`, () => {
    afterAll(async () => {
      for (const number of opened) {
        const found = await forge.readPullRequest(number, signal);
        if (found?.state === "open") await act(acts[name].close(path, number));
      }
      for (const branch of made) git("push", "--quiet", "origin", `:refs/heads/${branch}`);
      rmSync(dir, { recursive: true, force: true });
      await network.close();
    });

    forgeConformance(name, async () => {
      const [described, remote] = [await forge.describeRepository(signal), await forge.gitRemote(signal)];
      path = described.path;
      const base = described.defaultBranch ?? "main";
      // In the environment, because process lists show arguments.
      const env = {
        ...process.env,
        GIT_TERMINAL_PROMPT: "0",
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: `http.${new URL(remote.url).origin}/.extraHeader`,
        GIT_CONFIG_VALUE_0: `Authorization: ${remote.authorization}`,
      };
      const author = ["-c", "user.name=Emend", "-c", "user.email=emend@example.invalid"];
      git = (...args) => execFileSync("git", ["-C", dir, ...author, ...args], { env, encoding: "utf8" });
      git("clone", "--quiet", "--depth", "1", "--branch", base, remote.url, ".");
      return {
        forge: recording(forge),
        base,
        branchPrefix,
        async makeBranch(branch) {
          git("checkout", "--quiet", "-B", "work", `origin/${base}`);
          writeFileSync(join(dir, `${branch.replaceAll("/", "-")}.md`), `${branch}\n`);
          git("add", ".");
          git("commit", "--quiet", "-m", branch);
          git("push", "--quiet", "origin", `HEAD:refs/heads/${branch}`);
          made.push(branch);
        },
        close: (number) => act(acts[name].close(path, number)),
        merge: async (number) => {
          const { headCommit = "" } = (await forge.readPullRequest(number, signal)) ?? {};
          await act(acts[name].merge(path, number, headCommit));
        },
      };
    });
  });

  function recording(real: Forge): Forge {
    return {
      ...real,
      async createPullRequest(draft, request) {
        const outcome = await real.createPullRequest(draft, request);
        if (outcome.kind === "created") opened.push(outcome.pullRequest.number);
        return outcome;
      },
    };
  }
}
