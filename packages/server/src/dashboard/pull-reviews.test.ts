import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DashboardPull } from "@emend/contract";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { personGit } from "@emend/testkit/forge.ts";
import { createGit } from "@emend/tree";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalRepository } from "../forge/local/create-repository.ts";
import { openLocalForge } from "../forge/local/local-forge.ts";

const git = createGit({ allowedProtocols: ["file"] });
const { signal } = new AbortController();
let host: DashboardApi;
let dir: string;
let work: string;
let forgeDir: string;
let projectId: string;
let people: Record<"ada" | "bo" | "viewer", { id: string; email: string; cookie: string }>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-reviews-"));
  [work, forgeDir] = [join(dir, "work"), join(dir, "forge")];
  await mkdir(work);
  await personGit(work, "init", "--quiet", "--initial-branch=main");
  await commit("Start", { "page.md": "one\n", "other.md": "other\n", "old.md": "old\n" });
  host = await startDashboard({ forgeDir });
  projectId = (await host.api.addProject()).id;
  await host.api.pool.query("update projects set forge = 'local' where id = $1", [projectId]);
  await createLocalRepository({ git, forgeDir }, { projectId, importFrom: work }, signal);
  people = {
    ada: await host.addMember("maintainer"),
    bo: await host.addMember("maintainer"),
    viewer: await host.addMember("viewer"),
  };
});
afterAll(async () => {
  await host.close();
  await rm(dir, { recursive: true, force: true });
});

async function commit(message: string, files: Readonly<Record<string, string | null>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) await rm(join(work, path));
    else await writeFile(join(work, path), text);
  }
  await personGit(work, "add", "--all");
  await personGit(work, "commit", "--quiet", `--message=${message}`);
}

const push = (branch: string) => personGit(work, "push", "--quiet", join(forgeDir, `${projectId}.git`), branch);

/** A pull request that changes two pages and deletes one, in two commits. */
async function openPull(branch: string): Promise<string> {
  await personGit(work, "switch", "--quiet", "--force-create", branch, "main");
  await commit("Say it \u001f better", { "page.md": `${branch}\n`, "other.md": "changed\n" });
  await commit("Remove a page", { "old.md": null });
  await push(branch);
  const local = { git, forgeDir, pool: host.api.pool, publicUrl: () => "https://emend.test/base" };
  const draft = { head: branch, base: "main", title: "A change", body: "", draft: false, checks: [] };
  const created = await openLocalForge(local, projectId).createPullRequest(draft, signal);
  if (created.kind !== "created") throw new Error(created.kind);
  return `/pulls/${projectId}/${created.pullRequest.number}`;
}

const read = async (path: string, cookie?: string): Promise<DashboardPull> =>
  (await host.send(path, cookie === undefined ? {} : { cookie })).json();
const set = (settings: object) =>
  host.api.pool.query("update projects set settings = $2 where id = $1", [projectId, settings]);

async function review(path: string, who: keyof typeof people, verdict: string, more: object = {}) {
  const { headCommit } = await read(path);
  const body = { head: headCommit, verdict, text: "", ...more };
  return host.send(`${path}/review`, { cookie: people[who].cookie, body });
}

it("shows on a person's pull request what the status found on its lines", async () => {
  const path = await openPull("topic/judged");
  const { headCommit, findings } = await read(path);
  expect(findings).toEqual([]);
  const finding = {
    check: "broken-link",
    severity: "error",
    path: "page.md",
    line: 1,
    message: "It leads to no page.",
  };
  await host.api.pool.query(
    `insert into gate_statuses (id, project_id, repository, head, name, number, pull, words, findings)
     values ('gat_a', $1, 'local', $2, 'emend', 1, '{}', '', $3), ('gat_b', $1, 'local', 'other', 'emend', 1, '{}', '', '[]')`,
    [projectId, headCommit, JSON.stringify([finding])],
  );
  expect((await read(path)).findings).toEqual([finding]);
});

it("merges only what a check that blocks has looked at", async () => {
  const path = await openPull("topic/unchecked");
  const merge = async () => host.send(`${path}/merge`, { body: { head: (await read(path)).headCommit } });
  await set({ gate: { docs: "failing", name: "docs" } });
  const words = "docs has not checked the newest commit yet.";
  expect((await read(path)).verdict).toEqual({ kind: "blocked", words });
  const refused = await merge();
  expect([refused.statusCode, refused.json().error]).toEqual([409, words]);
  await set({ gate: { docs: "neutral", name: "docs" } });
  expect((await read(path)).verdict).toEqual({ kind: "ready", words: "" });
  await set({});
});

it("lists the commits, oldest first", async () => {
  const { commits, headCommit } = await read(await openPull("topic/commits"));
  expect(commits.map(({ subject }) => subject)).toEqual([expect.stringMatching(/^Say it . better$/), "Remove a page"]);
  expect(commits.at(-1)).toMatchObject({
    id: headCommit,
    author: expect.any(String),
    at: expect.stringMatching(/^20/),
  });
});

it("refuses a review of a commit that is not the newest, and one by a viewer", async () => {
  const path = await openPull("topic/stale");
  expect((await review(path, "ada", "approved", { head: "0".repeat(40) })).statusCode).toBe(409);
  expect((await review(path, "viewer", "approved")).statusCode).toBe(403);
  expect((await review(path, "ada", "fine")).statusCode).toBe(400);
  expect((await read(path)).reviews).toEqual([]);
  expect((await review("/pulls/prj_none/1", "ada", "approved", { head: "0".repeat(40) })).statusCode).toBe(404);
});

it("refuses an approval by somebody who wrote one of its commits", async () => {
  const path = await openPull("topic/own");
  await commit("An edit of Ada's", { "page.md": "ada\n" });
  await personGit(
    work,
    "commit",
    "--quiet",
    "--amend",
    "--no-edit",
    `--author=Ada <${people.ada.email.toUpperCase()}>`,
  );
  await push("topic/own");
  expect((await review(path, "ada", "approved")).json().error).toContain("Somebody else must approve it");
  expect((await review(path, "ada", "changes_requested")).statusCode).toBe(200);
  expect((await review(path, "bo", "approved")).statusCode).toBe(200);
});

it("asks members for a review, by name or by the project's settings, and takes reviews back", async () => {
  const path = await openPull("topic/asked");
  await set({ forge: { reviewers: [people.ada.email.toUpperCase()] } });
  const ask = (reviewer: string, isWanted = true) => host.send(`${path}/reviewers`, { body: { reviewer, isWanted } });
  expect((await ask(people.bo.email)).statusCode).toBe(200);
  expect((await ask(people.viewer.email)).statusCode).toBe(409);
  expect((await ask("nobody@emend.test")).statusCode).toBe(409);
  const states = async () =>
    Object.fromEntries((await read(path)).reviews.map(({ reviewer, state }) => [reviewer, state]));
  expect(await states()).toEqual({ [people.ada.email]: "requested", [people.bo.email]: "requested" });
  await review(path, "bo", "approved", { text: "Fine." });
  await review(path, "bo", "changes_requested", { text: "Say why." });
  const { rows } = await host.api.pool.query(
    "select body, requests_changes as asks from local_pull_request_comments where body = any ($1) order by created_at",
    [["Fine.", "Say why."]],
  );
  expect(rows).toEqual([
    { body: "Fine.", asks: false },
    { body: "Say why.", asks: true },
  ]);
  expect((await read(path)).verdict).toMatchObject({ kind: "review", words: `${people.bo.email} requested changes` });
  expect((await ask(people.bo.email, false)).statusCode).toBe(200);
  expect((await ask(people.bo.email, false)).statusCode).toBe(409);
  expect(await states()).toEqual({ [people.ada.email]: "requested" });
  await set({});
});

it("remembers for each person which files they viewed, until a file changes", async () => {
  const path = await openPull("topic/viewed");
  const mark = (file: string, isViewed = true) =>
    host.send(`${path}/viewed`, { cookie: people.viewer.cookie, body: { path: file, isViewed } });
  for (const file of ["page.md", "other.md", "old.md", "../x", ":"]) expect((await mark(file)).statusCode).toBe(200);
  await mark("other.md", false);
  expect((await read(path, people.viewer.cookie)).viewed.toSorted()).toEqual(["old.md", "page.md"]);
  expect((await read(path)).viewed).toEqual([]);
  await commit("Change it", { "page.md": "changed again\n" });
  await push("topic/viewed");
  expect((await read(path, people.viewer.cookie)).viewed).toEqual(["old.md"]);
  expect((await host.send("/pulls/prj_none/1/viewed", { body: { path: "a.md", isViewed: true } })).statusCode).toBe(
    404,
  );
});

it("forgets the reviews of a member who is removed", async () => {
  const path = await openPull("topic/removed");
  const owner = await host.addMember("owner");
  const gone = await host.addMember("maintainer");
  const body = { head: (await read(path)).headCommit, verdict: "approved", text: "" };
  await host.send(`${path}/review`, { cookie: gone.cookie, body });
  expect((await read(path)).reviews).toHaveLength(1);
  expect((await host.send(`/members/${gone.id}/remove`, { cookie: owner.cookie, body: {} })).statusCode).toBe(200);
  const { rowCount } = await host.api.pool.query("select from local_reviews where reviewer = lower($1)", [gone.email]);
  expect(rowCount).toBe(0);
});

// Last: it changes the base branch.
it("merges only the approved commit where the project asks for an approval", async () => {
  const path = await openPull("topic/approved");
  await set({ approvalsMin: 1 });
  const merge = async () => host.send(`${path}/merge`, { body: { head: (await read(path)).headCommit } });
  expect((await read(path)).verdict).toEqual({ kind: "blocked", words: "The newest commit needs an approval." });
  expect((await merge()).statusCode).toBe(409);

  expect((await review(path, "ada", "approved", { text: "Reads well." })).statusCode).toBe(200);
  expect(await read(path)).toMatchObject({
    verdict: { kind: "ready" },
    reviews: [{ reviewer: people.ada.email, state: "approved", isCurrent: true }],
    comments: [{ author: people.ada.email, text: "Reads well." }],
  });
  // A later commit was not approved.
  await commit("One more", { "page.md": "more\n" });
  await push("topic/approved");
  expect(await read(path)).toMatchObject({ verdict: { kind: "blocked" }, reviews: [{ isCurrent: false }] });
  expect((await merge()).json().error).toBe("The newest commit needs an approval.");

  await review(path, "ada", "approved");
  await review(path, "bo", "changes_requested");
  expect((await merge()).json().error).toBe(`${people.bo.email} requested changes.`);
  // Somebody who may no longer write does not block it.
  await host.api.pool.query("update users set role = 'viewer' where id = $1", [people.bo.id]);
  expect((await merge()).statusCode).toBe(200);
  await host.api.pool.query("update users set role = 'maintainer' where id = $1", [people.bo.id]);
  await set({});
  expect((await review(path, "bo", "approved")).json().error).toBe("This pull request is merged.");
  const { rows } = await host.api.pool.query("select actor, details from audit_log where action = $1", [
    "pull_request.changes_requested",
  ]);
  expect(rows).toContainEqual({ actor: people.bo.email, details: { number: Number(path.split("/").at(-1)) } });
});
