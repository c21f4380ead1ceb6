import { generateKeyPairSync } from "node:crypto";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { type FarPublisher, startFarPublisher } from "@emend/testkit/forges/publish-far.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Forge } from "../forge.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const credential = JSON.stringify({ appId: "5", privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) });
const createRef = "POST /repos/{owner}/{repo}/git/refs";
let publisher: FarPublisher;
let forge: Forge;
let count = 0;
beforeAll(async () => {
  publisher = await startFarPublisher(githubVendor);
  forge = publisher.far.open({ verifiedCommits: true }, credential);
});
afterAll(async () => {
  await publisher.close();
  expect(publisher.far.violations).toEqual([]);
});

function start() {
  count += 1;
  const jobId = `job_verified${count}`;
  const { repository } = publisher.far.state;
  const tip = () => repository.git("rev-parse", `refs/heads/emend/${jobId}`);
  return { jobId, tip, repository, far: publisher.far, publish: () => publisher.publish(jobId, { forge }) };
}

describe("a commit that GitHub makes for an App", () => {
  it("has the change's tree on its base, and the App for its author", async () => {
    const { jobId, far, repository, publish, tip } = start();
    const published = await publish();
    expect(published).toMatchObject({ kind: "opened", commitId: tip() });
    const branch = `refs/heads/emend/${jobId}`;
    expect(repository.git("rev-parse", `${branch}^`)).toBe(repository.git("rev-parse", "refs/heads/main"));
    expect(repository.git("show", `${branch}:guides/start.md`)).toContain("access key");
    expect(repository.git("log", "-1", "--format=%an %(trailers:key=Emend-Job,valueonly)", branch)).toBe(
      `emend[bot] ${jobId}`,
    );
    expect(far.requests.map(({ operation }) => operation)).not.toContain("git git-receive-pack");
  });

  it("carries files that are no text, deleted ones and executables", async () => {
    const { jobId, repository } = start();
    const path = "guides/other.md";
    const entries = [
      { path: "logo.png", mode: "100644" as const, content: Buffer.from([0x89, 0x50, 0xff, 0x00, 0xfe]) },
      { path: "run.sh", mode: "100755" as const, content: Buffer.from("#!/bin/sh\r\n") },
      { path, mode: "100644" as const, content: null },
    ];
    expect(await publisher.publish(jobId, { forge, entries })).toMatchObject({ kind: "opened" });
    const tree = repository.git("ls-tree", "-r", `refs/heads/emend/${jobId}`);
    expect(tree).toContain("100755 blob");
    expect(tree).toContain("logo.png");
    expect(tree).not.toContain(path);
  });

  it.each([
    ["a 502 after the branch was made", createRef, { kind: "lost", how: "502" }],
    ["a reset before it", createRef, { kind: "ignored", how: "reset" }],
    ["a 502 after the commit", "POST /repos/{owner}/{repo}/git/commits", { kind: "lost", how: "502" }],
    ["a tree that was not answered", "POST /repos/{owner}/{repo}/git/trees", { kind: "lost", how: "reset" }],
  ] as const)("is published once in spite of %s", async (_, operation, fault) => {
    const { jobId, far, publish, tip } = start();
    far.fault(operation, fault);
    expect(await publish()).toMatchObject({ kind: "opened", commitId: tip() });
    expect(far.pullsOf(`emend/${jobId}`)).toHaveLength(1);
  });

  it("that was stored is the one that a later run publishes", async () => {
    const { far, publish, tip } = start();
    far.fault(createRef, { kind: "answer", status: 503, words: "Busy", headers: { "retry-after": "600" } });
    await expect(publish()).rejects.toMatchObject({ code: "forge_unavailable" });
    const made = far.requests.filter(({ operation }) => operation.endsWith("/git/commits")).length;
    // Another process that does not know about the wait.
    publisher.restart();
    expect(await publish()).toMatchObject({ kind: "opened", commitId: tip() });
    expect(far.requests.filter(({ operation }) => operation.endsWith("/git/commits"))).toHaveLength(made);
  });

  it("never takes the place of somebody's commit", async () => {
    const { jobId, far, publish, tip } = start();
    const theirs = far.makeBranch(`emend/${jobId}`);
    expect(await publish()).toEqual({ kind: "branch_conflict", branch: `emend/${jobId}`, found: theirs });
    expect(tip()).toBe(theirs);
    expect(far.pullsOf(`emend/${jobId}`)).toEqual([]);
  });

  it("continues from a branch, not from a commit in between", async () => {
    const { jobId, far, repository, tip } = start();
    const first = far.makeBranch(`emend/${jobId}`);
    const base = { commit: first, ref: "main" };
    const more = { forge, base, branchExpected: first, baseRef: `emend/${jobId}` };
    expect(await publisher.publish(jobId, more)).toMatchObject({ kind: "opened", commitId: tip() });
    expect(repository.git("rev-parse", `refs/heads/emend/${jobId}^`)).toBe(first);
    const published = tip();
    // The same step again, as if another process had done it.
    publisher.forget(jobId);
    expect(await publisher.publish(jobId, more)).toMatchObject({ kind: "branch_conflict", found: published });
  });

  it("does not undo a person's reset of the branch to an earlier commit", async () => {
    const { jobId, far, repository, tip } = start();
    const branch = `refs/heads/emend/${jobId}`;
    const first = far.makeBranch(`emend/${jobId}`);
    const more = { forge, base: { commit: first, ref: "main" }, branchExpected: first, baseRef: `emend/${jobId}` };
    far.fault("graphql", { kind: "before", happens: () => repository.git("update-ref", branch, `${first}^`) });
    expect(await publisher.publish(jobId, more)).toMatchObject({ kind: "branch_conflict" });
    expect(tip()).toBe(repository.git("rev-parse", `${first}^`));
  });

  it("does not send again what GitHub has already got", async () => {
    const { jobId, far } = start();
    const content = (index: number) => Buffer.from([0xff, index]);
    const entries = [1, 2, 3].map((index) => ({
      path: `${index}.png`,
      mode: "100644" as const,
      content: content(index),
    }));
    far.fault("POST /repos/{owner}/{repo}/git/trees", { kind: "answer", status: 502, words: "" });
    expect(await publisher.publish(jobId, { forge, entries })).toMatchObject({ kind: "opened" });
    const { violations: _, requests } = far;
    expect(requests.filter(({ operation }) => operation.endsWith("/git/blobs"))).toHaveLength(4);
  });

  it("is not made of a tree other than the one that was reviewed", async () => {
    const { jobId, far } = start();
    const sha = far.state.repository.git("rev-parse", "refs/heads/main^{tree}");
    far.fault("POST /repos/{owner}/{repo}/git/trees", { kind: "answer", status: 201, words: "", body: { sha } });
    // A tree of its own: equal ones are sent once.
    const entries = [{ path: "reviewed.md", mode: "100644" as const, content: Buffer.from("reviewed") }];
    await expect(publisher.publish(jobId, { forge, entries })).rejects.toThrow("different tree");
    expect(far.state.repository.git("branch", "--list", `emend/${jobId}`)).toBe("");
    expect(far.pullsOf(`emend/${jobId}`)).toEqual([]);
  });

  it("is refused where the project has no App", async () => {
    expect(publisher.far.open({ verifiedCommits: true }).commits).toBeNull();
  });
});
