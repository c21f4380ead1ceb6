import { isUtf8 } from "node:buffer";
import { Type } from "typebox";
import { AppError } from "../../errors.ts";
import type { OverlayEntry } from "../../tree/tree.ts";
import { refusalOf, wordsOf } from "../api-refusal.ts";
import type { ForgeCommit, ForgeCommits } from "../forge.ts";
import type { GithubRepository } from "./github-token.ts";

const Made = Type.Object({ sha: Type.String({ pattern: "^[0-9a-f]{40}(?:[0-9a-f]{24})?$" }) });
const Commit = Type.Object({ tree: Made });
const Ref = Type.Object({ object: Made });
/** Far below GitHub's limit for one request. */
const entriesMax = 200;

/** GitHub signs what an App commits through the Git data API without an author. */
export function openCommits(repository: GithubRepository): ForgeCommits {
  const { api, path } = repository;
  const branchPath = (branch: string) => `heads/${branch.split("/").map(encodeURIComponent).join("/")}`;

  async function tipOf(branch: string, signal: AbortSignal): Promise<string | null> {
    const request = { path: `${path}/git/ref/${branchPath(branch)}`, answer: Ref, what: "read a branch" };
    const found = await api.ask({ ...request, method: "GET" }, [404], signal);
    return found.kind === "ok" ? found.value.object.sha : null;
  }

  return {
    async create(commit, signal) {
      const tree = await createTree(repository, commit, signal);
      if (tree !== commit.treeId) {
        throw new AppError("forge_rejected", {
          publicMessage: "GitHub created a different tree than git.",
        });
      }
      const body = { message: commit.message, tree, parents: [commit.base] };
      const request = { path: `${path}/git/commits`, body, answer: Made, what: "make a commit" };
      return (await api.call({ ...request, method: "POST" }, signal)).sha;
    },
    async setBranch({ branch, commit, expected }, signal) {
      const what = "set a branch";
      const outcome =
        expected === null
          ? await api.ask(
              {
                method: "POST",
                path: `${path}/git/refs`,
                body: { ref: `refs/heads/${branch}`, sha: commit },
                answer: Ref,
                what,
              },
              [409, 422],
              signal,
            )
          : await api.ask(
              // Without force, the branch only moves forward from its commit, and ours is right on top of the expected
              // one.
              {
                method: "PATCH",
                path: `${path}/git/refs/${branchPath(branch)}`,
                body: { sha: commit, force: false },
                answer: Ref,
                what,
              },
              [409, 422],
              signal,
            );
      if (outcome.kind === "ok") return { kind: "pushed" };
      // A refusal may be the second response to the same request, or caused by somebody else's commit. The branch's tip
      // tells.
      const found = await tipOf(branch, signal);
      if (found === commit) return { kind: "pushed" };
      if (found !== expected) return { kind: "conflict", found };
      const refusal = refusalOf("GitHub", { status: outcome.status, headers: new Headers(), body: outcome.body }, what);
      return { kind: "rejected", reason: wordsOf(outcome.body) || refusal.publicMessage };
    },
  };
}

/** Created in parts, each on top of the previous one. The last id is the whole tree's. */
async function createTree(repository: GithubRepository, commit: ForgeCommit, signal: AbortSignal): Promise<string> {
  const { api, path } = repository;
  const request = { path: `${path}/git/commits/${commit.base}`, answer: Commit, what: "read a commit" };
  let tree = (await api.call({ ...request, method: "GET" }, signal)).tree.sha;
  // Deletions first, so that a folder can replace a file and the other way round.
  const entries = commit.entries.toSorted(
    (left, right) => Number(left.content !== null) - Number(right.content !== null),
  );
  for (let start = 0; start < entries.length; start += entriesMax) {
    const part = await Promise.all(
      entries.slice(start, start + entriesMax).map((entry) => toWire(repository, entry, signal)),
    );
    const body = { base_tree: tree, tree: part };
    tree = (
      await api.call({ method: "POST", path: `${path}/git/trees`, body, answer: Made, what: "make a tree" }, signal)
    ).sha;
  }
  return tree;
}

async function toWire(repository: GithubRepository, entry: OverlayEntry, signal: AbortSignal) {
  const { path, mode, content } = entry;
  const place = { path, mode, type: "blob" } as const;
  if (content === null) return { ...place, sha: null };
  // JSON cannot carry binary content as it is.
  if (isUtf8(content)) return { ...place, content: content.toString("utf8") };
  const body = { content: content.toString("base64"), encoding: "base64" };
  const request = { path: `${repository.path}/git/blobs`, body, answer: Made, what: "make a file" };
  return { ...place, sha: (await repository.api.call({ ...request, method: "POST" }, signal)).sha };
}
