import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgramSync } from "../run-program.ts";
import type { Answer } from "./answer.ts";
import type { FarState, Vendor } from "./far-end.ts";
import { tipOf } from "./pulls.ts";

const refusal = (status: number, message: string): Answer => ({
  status,
  body: { message, documentation_url: "https://docs.github.com/rest" },
});
let clock = 1_800_000_000;

/** Git on the forge's side. The clock moves one second per commit, so that no two commits have the same id. */
function git(
  state: FarState,
  args: readonly string[],
  more: { input?: string | Buffer; env?: Record<string, string> } = {},
): string {
  clock += 1;
  const who = { NAME: "emend[bot]", EMAIL: "bot@users.noreply.github.com", DATE: `${clock} +0000` };
  const people = Object.entries(who).flatMap(([key, value]) => [
    [`GIT_AUTHOR_${key}`, value],
    [`GIT_COMMITTER_${key}`, value],
  ]);
  const env = { PATH: process.env.PATH, ...Object.fromEntries(people), ...more.env };
  const result = runProgramSync("git", [`--git-dir=${state.repository.path}`, ...args], {
    input: more.input ?? "",
    env,
  });
  if (result.status !== 0) throw new Error(`git ${args[0]}: ${result.stderr}`);
  return result.stdout.toString().trim();
}

function has(state: FarState, id: string): boolean {
  return runProgramSync("git", [`--git-dir=${state.repository.path}`, "cat-file", "-e", id]).status === 0;
}

function commitToWire(state: FarState, sha: string) {
  const url = `${state.url}/${sha}`;
  const [tree = "", parents = "", name = "", email = "", date = ""] = git(state, [
    "log",
    "-1",
    "--format=%T%x00%P%x00%an%x00%ae%x00%aI",
    sha,
  ]).split("\0");
  const person = { name, email, date };
  return {
    sha,
    node_id: "C_x",
    url,
    html_url: url,
    author: person,
    committer: person,
    message: git(state, ["log", "-1", "--format=%B", sha]),
    tree: { sha: tree, url },
    parents: parents
      .split(" ")
      .filter(Boolean)
      .map((parent) => ({ sha: parent, url, html_url: url })),
    verification: { verified: true, reason: "valid", signature: "-----BEGIN", payload: "tree", verified_at: null },
  };
}

function refToWire(state: FarState, branch: string) {
  const url = `${state.url}/${branch}`;
  const object = { type: "commit", sha: tipOf(state, branch) ?? "", url };
  return { ref: `refs/heads/${branch}`, node_id: "R_x", url, object };
}

interface TreeItem {
  path: string;
  mode: string;
  sha?: string | null;
  content?: string;
}

function writeTree(state: FarState, base: string, items: readonly TreeItem[]): string {
  const dir = mkdtempSync(join(tmpdir(), "emend-tree-"));
  const env = { GIT_INDEX_FILE: join(dir, "index") };
  try {
    git(state, ["read-tree", base], { env });
    const lines = items.map(({ path, mode, sha, content }) => {
      if (sha === null) return `0 ${"0".repeat(40)}\t${path}`;
      const blob = sha ?? git(state, ["hash-object", "-w", "--stdin"], { input: content ?? "" });
      return `${mode} ${blob}\t${path}`;
    });
    git(state, ["update-index", "--index-info"], { env, input: `${lines.join("\n")}\n` });
    return git(state, ["write-tree"], { env });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** GitHub's Git data API on the repository that git pushes to as well. */
export const gitDataHandlers: Vendor["handlers"] = {
  "POST /repos/{owner}/{repo}/git/blobs": (state, { body }) => {
    const input = Buffer.from(body.content, body.encoding === "base64" ? "base64" : "utf8");
    const sha = git(state, ["hash-object", "-w", "--stdin"], { input });
    return { status: 201, body: { sha, url: `${state.url}/${sha}` } };
  },
  "POST /repos/{owner}/{repo}/git/trees": (state, { body }) => {
    const sha = writeTree(state, body.base_tree, body.tree);
    return { status: 201, body: { sha, url: `${state.url}/${sha}`, truncated: false, tree: [] } };
  },
  "GET /repos/{owner}/{repo}/git/commits/{commit_sha}": (state, { parameters }) =>
    has(state, parameters.commit_sha ?? "")
      ? { status: 200, body: commitToWire(state, parameters.commit_sha ?? "") }
      : refusal(404, "Not Found"),
  "POST /repos/{owner}/{repo}/git/commits": (state, { body }) => {
    const parents = body.parents.flatMap((parent: string) => ["-p", parent]);
    const sha = git(state, ["commit-tree", body.tree, ...parents], { input: body.message });
    return { status: 201, body: commitToWire(state, sha) };
  },
  "GET /repos/{owner}/{repo}/git/ref/{ref}": (state, { parameters }) => {
    const branch = (parameters.ref ?? "").replace("heads/", "");
    return tipOf(state, branch) === null ? refusal(404, "Not Found") : { status: 200, body: refToWire(state, branch) };
  },
  "POST /repos/{owner}/{repo}/git/refs": (state, { body }) => {
    const branch = body.ref.replace("refs/heads/", "");
    if (tipOf(state, branch) !== null) return refusal(422, "Reference already exists");
    if (!has(state, body.sha)) return refusal(422, "Object does not exist");
    git(state, ["update-ref", body.ref, body.sha, "0".repeat(40)]);
    return { status: 201, body: refToWire(state, branch) };
  },
};

/** GitHub's `updateRefs`: each ref moves only from its `beforeOid`, and without force only forward. */
export function updateRefs(state: FarState, body: unknown): Answer {
  const { input } = (body as { variables: { input: { refUpdates: RefUpdate[] } } }).variables;
  for (const { name, beforeOid, afterOid, force } of input.refUpdates) {
    const tip = tipOf(state, name.replace("refs/heads/", ""));
    const path = `--git-dir=${state.repository.path}`;
    const isAbove = runProgramSync("git", [path, "merge-base", "--is-ancestor", beforeOid, afterOid]).status === 0;
    if (tip !== beforeOid || !(isAbove || force)) {
      const errors = [{ type: "UNPROCESSABLE", message: `Reference ${name} was not at ${beforeOid}` }];
      return { status: 200, body: { data: { updateRefs: null }, errors } };
    }
    git(state, ["update-ref", name, afterOid, beforeOid]);
  }
  return { status: 200, body: { data: { updateRefs: { clientMutationId: null } } } };
}

interface RefUpdate {
  name: string;
  beforeOid: string;
  afterOid: string;
  force: boolean;
}
