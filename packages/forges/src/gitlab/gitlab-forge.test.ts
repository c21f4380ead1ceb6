import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { gitlabVendor, hiddenNote } from "@emend/testkit/forges/gitlab.ts";
import { addPipeline, forkId, headPipelineOf, projectId, statusOf } from "@emend/testkit/forges/gitlab-pipelines.ts";
import { plainPull } from "@emend/testkit/forges/pulls.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { CommitStatus } from "../forge.ts";

const { signal } = new AbortController();
let far: FarEnd;
beforeAll(async () => {
  far = await startFarEnd(gitlabVendor);
});
beforeEach(() => {
  Object.assign(far.state, { pulls: [], comments: [], pipelines: [], statuses: new Map(), isMaintainer: false });
});
afterAll(async () => {
  await far.close();
  expect(far.violations).toEqual([]);
});

/** An open merge request of a branch with one commit. `fork`: the branch is in a fork. */
function openPull(head: string, { fork = false } = {}) {
  const made = far.makeBranch(fork ? `refs-of/${far.state.pulls.length}` : head);
  const number = far.state.pulls.length + 1;
  const pull = plainPull({ head, base: "main", title: "T", body: "" });
  far.state.pulls.push({ ...pull, number, state: "open", at: "2026-01-01", ...(fork && { fork: made }) });
  return { number, commit: made };
}

async function report(commit: string, more: Partial<CommitStatus> = {}) {
  const forge = far.open();
  const pulls = (await forge.listOpenPullRequests(signal)).filter(({ headCommit }) => headCommit === commit);
  const url = "https://emend.test/app/gates/gat_1";
  return forge.setStatus({ commit, pulls, name: "emend", state: "failed", words: "1 problem.", url, ...more }, signal);
}

/** A commit that merges this one into main. */
function mergeOf(commit: string): string {
  const { git } = far.state.repository;
  const person = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const parents = ["-p", git("rev-parse", "main"), "-p", commit];
  return git(...person, "commit-tree", git("rev-parse", `${commit}^{tree}`), ...parents, "-m", "Merge");
}

/** The pipeline that decides whether GitLab lets the merge request be merged. */
function headPipeline(number: number) {
  const pull = far.state.pulls.find((one) => one.number === number);
  return pull ? headPipelineOf(far.state, pull) : null;
}
const sent = () => far.requests.filter(({ operation }) => operation.startsWith("POST /projects/{id}/statuses")).length;

it("sets no status under the branch name of a fork, and says that GitLab has no place for it", async () => {
  far.state.isMaintainer = true;
  const { number, commit } = openPull("main", { fork: true });
  addPipeline(far.state, { project: forkId, sha: commit, ref: "main" });
  const before = sent();
  expect(await report(commit)).toMatch(/comes from a fork/);
  expect(sent()).toBe(before);
  expect(far.state.pipelines.filter(({ project }) => project === projectId)).toEqual([]);
  // Somebody of this project runs a pipeline for it here.
  const ref = `refs/merge-requests/${number}/head`;
  addPipeline(far.state, { project: projectId, sha: commit, ref, merge: number });
  expect(await report(commit)).toBeNull();
  expect(headPipeline(number)).toMatchObject({ ref, jobs: [{ name: "emend", state: "failed" }] });
});

it("adds the status to the pipeline that a merge request shows, so that it blocks", async () => {
  const { number, commit } = openPull("topic/piped");
  addPipeline(far.state, { project: projectId, sha: commit, ref: "topic/piped" });
  const ref = `refs/merge-requests/${number}/head`;
  const own = addPipeline(far.state, { project: projectId, sha: commit, ref, merge: number });
  expect(await report(commit)).toBeNull();
  expect([headPipeline(number)?.id, statusOf(own)]).toEqual([own.id, "failed"]);
  await report(commit, { state: "passed", words: "No problems." });
  expect(statusOf(own)).toBe("success");
});

it("adds it to the pipeline of the merged result, whose commit is another", async () => {
  const { number, commit } = openPull("topic/merged");
  const merge = mergeOf(commit);
  const ref = `refs/merge-requests/${number}/merge`;
  const own = addPipeline(far.state, { project: projectId, sha: merge, ref, merge: number });
  expect(await report(commit)).toBeNull();
  expect(statusOf(own)).toBe("failed");
});

it("does not add it to the pipeline of an earlier commit, nor to that of a later one", async () => {
  const { number, commit } = openPull("topic/stale");
  const ref = `refs/merge-requests/${number}/head`;
  const later = mergeOf(commit);
  for (const sha of [far.state.repository.git("rev-parse", "main"), later]) {
    const other = addPipeline(far.state, { project: projectId, sha, ref, merge: number });
    expect(await report(commit)).toBeNull();
    expect(other.jobs).toEqual([]);
  }
  expect(far.state.pipelines.at(-1)).toMatchObject({ sha: later });
  expect(far.state.statuses.get(`${commit} emend`)).toMatchObject({ state: "failed" });
});

it("sends an unchanged status once, and again where another pipeline takes the first one's place", async () => {
  const { number, commit } = openPull("topic/again");
  const before = sent();
  await report(commit);
  await report(commit);
  expect([sent() - before, headPipeline(number)?.jobs.length]).toEqual([1, 1]);
  addPipeline(far.state, { project: projectId, sha: commit, ref: "topic/again" });
  await report(commit);
  await report(commit);
  expect([sent() - before, headPipeline(number)?.jobs.length]).toEqual([2, 1]);
});

it("sets the status for each merge request of a commit", async () => {
  const { commit, number } = openPull("topic/twice");
  const other = { ...far.state.pulls[0], number: 2, base: "release" };
  far.state.pulls.push(other as (typeof far.state.pulls)[number]);
  const refs = [number, 2].map((iid) =>
    addPipeline(far.state, { project: projectId, sha: commit, ref: `refs/merge-requests/${iid}/head`, merge: iid }),
  );
  await report(commit);
  expect(refs.map(statusOf)).toEqual(["failed", "failed"]);
});

it("leaves internal notes alone, on merge requests and on issues", async () => {
  const at = new Date().toISOString();
  const said = { pull: 1, author: "ada", at };
  far.state.comments.push({ ...said, id: 1, body: "@emend Name our customer Acme.", isInternal: true });
  far.state.comments.push({ ...said, id: 2, body: "@emend shorter" });
  const { conversation, issues } = far.open();
  expect((await conversation?.listComments(1, signal))?.map(({ text }) => text)).toEqual(["@emend shorter"]);
  expect((await issues?.listComments(1, new Date(0), signal))?.map(({ text }) => text)).toEqual(["@emend shorter"]);
});

it("takes what a reviewer said since the last request for changes as one review", async () => {
  const note = (id: number, body: string, more: object = {}) => {
    far.state.comments.push({ id, pull: 1, author: "ada", body, at: new Date(id).toISOString(), ...more });
  };
  const line = { path: "guides/start.md", line: 3 };
  const request = (id: number) => note(id, "requested changes", { isSystem: true });
  note(1, "Shorter.", line);
  note(2, "@emend say it again");
  note(3, "Mine.", { author: "eve", ...line });
  request(4);
  note(5, "Thanks.");
  note(6, "approved this merge request", { isSystem: true });
  note(7, "requested changes");
  note(8, "Name it.", line);
  request(9);
  request(10);
  const said = (await far.open().conversation?.listComments(1, signal)) ?? [];
  const lineOf = (id: string, text: string) => ({ id, author: "ada", text, ...line });
  expect(said.filter(({ requestsChanges }) => requestsChanges)).toEqual([
    { ...lineOf("n4", ""), path: null, line: null, requestsChanges: true, lines: [lineOf("n1", "Shorter.")] },
    {
      ...{ ...lineOf("n9", "Thanks.\n\nrequested changes"), path: null, line: null, requestsChanges: true },
      lines: [lineOf("n8", "Name it.")],
    },
  ]);
  expect(said).toHaveLength(8);
});

it("hears what is said after a thousand notes, and past pages that it may not read", async () => {
  const note = (id: number, body: string) => ({ id, pull: 1, author: "ada", body, at: new Date(id).toISOString() });
  far.state.comments = Array.from({ length: 1200 }, (_, index) => {
    // One whole page is hidden.
    const isHidden = index >= 1000 && index < 1101;
    return note(index + 1, isHidden ? hiddenNote : `Note ${index + 1}`);
  });
  far.state.comments.push(note(1201, "@emend shorter"));
  const { conversation, issues } = far.open();
  const ours = await conversation?.listComments(1, signal);
  for (const listed of [ours, await issues?.listComments(1, new Date(0), signal)]) {
    const said = listed?.map(({ text }) => text) ?? [];
    expect(said.slice(-2)).toEqual(["Note 1200", "@emend shorter"]);
    expect(said).toContain("Note 999");
  }
});

it("keeps the reviewers that people added", async () => {
  const { number } = openPull("topic/reviewed");
  Object.assign(far.state.pulls[0] ?? {}, { reviewers: ["eve"] });
  const { ensureDetails } = far.open({ reviewers: ["Ada"] });
  for (let time = 0; time < 2; time += 1) {
    await ensureDetails?.(number, signal);
    expect(far.state.pulls[0]?.reviewers).toEqual(["eve", "ada"]);
  }
  const puts = far.requests.filter(({ operation }) => operation === "PUT /projects/{id}/merge_requests/{iid}");
  expect(puts).toHaveLength(1);
});

it("says that the project has moved where GitLab refuses to write at its old place", async () => {
  far.makeBranch("topic/moved");
  far.state.movedTo = "/projects/7";
  const draft = { head: "topic/moved", base: "main", title: "T", body: "", draft: false, checks: [] };
  await expect(far.open().createPullRequest(draft, signal)).rejects.toMatchObject({
    code: "forge_rejected",
    publicMessage: expect.stringMatching(/405.*moved.*--follow/s),
  });
  far.state.movedTo = null;
});
