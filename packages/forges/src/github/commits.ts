import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { OverlayEntry } from "@emend/tree";
import { Type } from "typebox";
import { createMsMax } from "../api-client.ts";
import { refusalOf, wordsOf } from "../api-refusal.ts";
import { ForgeFault } from "../faults.ts";
import type { ForgeCommit, ForgeCommits } from "../forge.ts";
import type { GithubRepository } from "./github-token.ts";

const Made = Type.Object({ sha: Type.String({ pattern: "^[0-9a-f]{40}(?:[0-9a-f]{24})?$" }) });
const Commit = Type.Object({ tree: Made });
const Ref = Type.Object({ object: Made });
const Refused = Type.Array(Type.Object({ message: Type.String(), type: Type.Optional(Type.String()) }));
/** Far below GitHub's limit for one request. */
const entriesMax = 200;
const answerMsMax = createMsMax;

/** What GitHub has got, by content: a retry sends only the rest. */
type Sent = Map<string, string>;

/** GitHub signs what an App commits through the Git data API without an author. */
export function openCommits(repository: GithubRepository): ForgeCommits {
  const { api, graph, path } = repository;
  const branchPath = (branch: string) => `heads/${branch.split("/").map(encodeURIComponent).join("/")}`;
  const sent: Sent = new Map();

  async function tipOf(branch: string, signal: AbortSignal): Promise<string | null> {
    const request = { path: `${path}/git/ref/${branchPath(branch)}`, answer: Ref, what: "read a branch" };
    const found = await api.ask({ ...request, method: "GET" }, [404], signal);
    return found.kind === "ok" ? found.value.object.sha : null;
  }

  /** Null: the branch is there now. Otherwise why not, in GitHub's words. */
  async function createBranch(branch: string, commit: string, signal: AbortSignal): Promise<string | null> {
    const body = { ref: `refs/heads/${branch}`, sha: commit };
    const request = { path: `${path}/git/refs`, body, answer: Ref, what, answerMsMax };
    const outcome = await api.ask({ ...request, method: "POST" }, [409, 422], signal);
    if (outcome.kind === "ok") return null;
    const { status, body: refusal } = outcome;
    return (
      wordsOf(refusal) || refusalOf("GitHub", { status, headers: new Headers(), body: refusal }, what).publicMessage
    );
  }

  /**
   * A compare-and-swap. The REST API has none: without force it moves a branch forward from any ancestor, also from one
   * that a person has reset it to.
   */
  async function moveBranch(
    { branch, commit, expected }: { branch: string; commit: string; expected: string },
    signal: AbortSignal,
  ): Promise<string | null> {
    const Repository = Type.Object({ node_id: Type.String() });
    const { node_id: repositoryId } = await api.call({ method: "GET", path, answer: Repository, what }, signal);
    const refUpdates = [{ name: `refs/heads/${branch}`, beforeOid: expected, afterOid: commit, force: false }];
    const body = {
      query: "mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }",
      variables: { input: { repositoryId, refUpdates } },
    };
    const answer = Type.Object({ errors: Type.Optional(Refused) });
    const request = { method: "POST", path: "/graphql", body, answer, what, answerMsMax } as const;
    const { errors = [] } = await graph.call(request, signal);
    if (errors.length === 0) return null;
    const words = wordsOf(errors);
    if (errors.some(({ type }) => type === "RATE_LIMITED" || type === "SERVICE_UNAVAILABLE")) {
      const publicMessage = `GitHub did not set the branch: ${words}`;
      throw new ForgeFault("forge_unavailable", { publicMessage, retryable: true, retryAfterMs: 60_000 });
    }
    return words;
  }

  return {
    async create(commit, signal) {
      const tree = await createTree(repository, commit, sent, signal);
      if (tree !== commit.treeId) {
        throw new ForgeFault("forge_rejected", {
          publicMessage: "GitHub created a different tree than git.",
        });
      }
      const body = { message: commit.message, tree, parents: [commit.base] };
      const request = { path: `${path}/git/commits`, body, answer: Made, what: "make a commit", answerMsMax };
      return (await api.call({ ...request, method: "POST" }, signal)).sha;
    },
    async setBranch({ branch, commit, expected }, signal) {
      const reason =
        expected === null
          ? await createBranch(branch, commit, signal)
          : await moveBranch({ branch, commit, expected }, signal);
      if (reason === null) return { kind: "pushed" };
      // A refusal may be the second response to the same request, or caused by somebody else's commit. The branch's tip
      // tells.
      const found = await tipOf(branch, signal);
      if (found === commit) return { kind: "pushed" };
      if (found !== expected) return { kind: "conflict", found };
      return { kind: "rejected", reason };
    },
  };
}

const what = "set a branch";

/** Created in parts, each on top of the previous one. The last id is the whole tree's. */
async function createTree(
  repository: GithubRepository,
  commit: ForgeCommit,
  sent: Sent,
  signal: AbortSignal,
): Promise<string> {
  const { api, path } = repository;
  const request = { path: `${path}/git/commits/${commit.base}`, answer: Commit, what: "read a commit" };
  let tree = (await api.call({ ...request, method: "GET" }, signal)).tree.sha;
  // Deletions first, so that a folder can replace a file and the other way round.
  const entries = commit.entries.toSorted(
    (left, right) => Number(left.content !== null) - Number(right.content !== null),
  );
  for (let start = 0; start < entries.length; start += entriesMax) {
    const part = await Promise.all(
      entries.slice(start, start + entriesMax).map((entry) => toWire(repository, entry, sent, signal)),
    );
    const body = { base_tree: tree, tree: part };
    tree = await once(sent, JSON.stringify(body), async () => {
      const made = { path: `${path}/git/trees`, body, answer: Made, what: "make a tree", answerMsMax };
      return (await api.call({ ...made, method: "POST" }, signal)).sha;
    });
  }
  return tree;
}

async function once(sent: Sent, content: string | Buffer, send: () => Promise<string>): Promise<string> {
  const key = hash("sha256", content);
  const known = sent.get(key) ?? (await send());
  sent.set(key, known);
  return known;
}

async function toWire(repository: GithubRepository, entry: OverlayEntry, sent: Sent, signal: AbortSignal) {
  const { path, mode, content } = entry;
  const place = { path, mode, type: "blob" } as const;
  if (content === null) return { ...place, sha: null };
  // JSON cannot carry binary content as it is.
  if (isUtf8(content)) return { ...place, content: content.toString("utf8") };
  const sha = await once(sent, content, async () => {
    const body = { content: content.toString("base64"), encoding: "base64" };
    const request = { path: `${repository.path}/git/blobs`, body, answer: Made, what: "make a file", answerMsMax };
    return (await repository.api.call({ ...request, method: "POST" }, signal)).sha;
  });
  return { ...place, sha };
}
