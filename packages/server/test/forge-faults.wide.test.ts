import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Forge } from "@emend/forges";
import type { Publication } from "@emend/publish";
import type { FarEnd } from "@emend/testkit/forges/far-end.ts";
import type { Fault } from "@emend/testkit/forges/faults.ts";
import { type FarPublisher, startFarPublisher } from "@emend/testkit/forges/publish-far.ts";
import { openPull } from "@emend/testkit/forges/pulls.ts";
import { createOperation, vendors } from "@emend/testkit/forges/vendors.ts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AppError } from "../src/errors.ts";

const findOperation = {
  github: "GET /repos/{owner}/{repo}/pulls",
  gitlab: "GET /projects/{id}/merge_requests",
  gitea: "GET /repos/{owner}/{repo}/pulls",
  bitbucket: "GET /repositories/{workspace}/{repo_slug}/pullrequests",
  "azure-devops": "GET /{project}/_apis/git/repositories/{repositoryId}/pullrequests",
} as const;
const push = "git git-receive-pack";

interface Case {
  name: string;
  /** The fault, and the request that it hits. */
  at: "find" | "create" | "push" | "nothing";
  fault?: Fault;
  arrange?(far: FarEnd, jobId: string): void;
  /** The outcome: what happened to the change, or which error from which side. */
  ends: Publication["kind"] | { code: AppError["code"]; retryable: boolean; words: RegExp };
  /** On Bitbucket, which has no archives, and where creating a pull request again updates the existing one. */
  onBitbucket?: "opened" | "cannot happen";
  /** The only forges that answer so. */
  onlyOn?: readonly string[];
  /** A proxy may have repeated the request, so a second pull request may still appear. */
  mayHaveTwin?: true;
  /** No request may be sent for this long after the fault. */
  quietMs?: number;
}

const refused = (words: RegExp) => ({ code: "forge_rejected", retryable: false, words }) as const;
const away = (words: RegExp) => ({ code: "forge_unavailable", retryable: true, words }) as const;
const answer = (status: number, words: string, headers?: Record<string, string>): Fault => ({
  kind: "answer",
  status,
  words,
  ...(headers && { headers }),
});
const secondary = "You have exceeded a secondary rate limit.";

const cases: readonly Case[] = [
  { name: "401", at: "create", fault: answer(401, "Bad credentials"), ends: refused(/401: Bad credentials.*token/) },
  { name: "403", at: "create", fault: answer(403, "Resource not accessible"), ends: refused(/403: Resource not acc/) },
  {
    name: "403 for a while, with Retry-After",
    at: "create",
    fault: answer(403, secondary, { "retry-after": "1" }),
    ends: "opened",
    quietMs: 1000,
  },
  { name: "403 for a while, without", at: "create", fault: answer(403, secondary), ends: away(/secondary rate limit/) },
  {
    name: "403 until the limit is reset",
    at: "find",
    fault: answer(403, "API rate limit exceeded", {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 1800),
    }),
    ends: away(/rate limit/),
  },
  { name: "404", at: "create", fault: answer(404, "Not Found"), ends: refused(/404: Not Found.*URL/) },
  {
    name: "one that exists already",
    at: "create",
    arrange: (far, jobId) => {
      far.fault(createOperation[far.vendor], { kind: "before", happens: () => openByOther(far, jobId) });
    },
    ends: "found",
    onBitbucket: "opened",
    mayHaveTwin: true,
  },
  {
    name: "422 for another reason",
    at: "create",
    fault: answer(422, "base is odd"),
    ends: refused(/422: base is odd/),
  },
  {
    name: "429 with Retry-After",
    at: "create",
    fault: answer(429, "Too many", { "retry-after": "1" }),
    ends: "opened",
    quietMs: 1000,
  },
  { name: "429 without", at: "find", fault: answer(429, "Too many"), ends: away(/429: Too many/) },
  { name: "409 without words", at: "create", fault: answer(409, ""), ends: "opened", onlyOn: ["github", "bitbucket"] },
  {
    name: "a branch that GitHub does not know yet",
    at: "create",
    fault: {
      kind: "answer",
      status: 422,
      words: "Validation Failed",
      body: { errors: [{ field: "head", code: "invalid" }] },
    },
    ends: "opened",
    onlyOn: ["github"],
  },
  { name: "a push that is answered with 429", at: "push", fault: answer(429, "Slow down"), ends: "opened" },
  {
    name: "a push while the forge is read-only",
    at: "push",
    fault: { kind: "answer", status: 403, words: "The repository is temporarily read-only. Please try again later." },
    ends: "opened",
  },
  { name: "500", at: "create", fault: answer(500, "Oops"), ends: "opened" },
  {
    name: "503 with a long Retry-After",
    at: "create",
    fault: answer(503, "Maintenance", { "retry-after": "600" }),
    ends: away(/./),
  },
  { name: "502 after success", at: "create", fault: { kind: "lost", how: "502" }, ends: "found" },
  { name: "a time-out before success", at: "create", fault: { kind: "ignored", how: "silence" }, ends: "opened" },
  { name: "a time-out after success", at: "create", fault: { kind: "lost", how: "silence" }, ends: "found" },
  { name: "a reset before success", at: "create", fault: { kind: "ignored", how: "reset" }, ends: "opened" },
  { name: "a reset after success", at: "create", fault: { kind: "lost", how: "reset" }, ends: "found" },
  { name: "a body that does not end", at: "create", fault: { kind: "lost", how: "slow" }, ends: "found" },
  { name: "a body that breaks off", at: "create", fault: { kind: "lost", how: "cut" }, ends: "found" },
  { name: "an answer that is no JSON", at: "create", fault: { kind: "lost", how: "no json" }, ends: "found" },
  { name: "a list that is no JSON", at: "find", fault: { kind: "lost", how: "no json" }, ends: "opened" },
  {
    name: "a repository that moved",
    at: "nothing",
    arrange: (far) => Object.assign(far.state, { movedTo: "/repositories/1" }),
    ends: refused(/301.*moved.*new URL/),
  },
  {
    name: "a repository that was archived",
    at: "nothing",
    arrange: (far) => Object.assign(far.state, { archived: true }),
    ends: refused(/40[03]|423/),
    onBitbucket: "cannot happen",
  },
  {
    name: "a protected branch",
    at: "nothing",
    arrange: (far) => hook(far, "update", "GH006: Protected branch update failed"),
    ends: refused(/GH006: Protected branch update failed/),
  },
  {
    name: "a hook that declines",
    at: "nothing",
    arrange: (far) => hook(far, "pre-receive", "Commits must be signed"),
    ends: refused(/pre-receive hook declined.*Commits must be signed/),
  },
  {
    name: "a branch that holds somebody's commit",
    at: "nothing",
    arrange: (far, jobId) => void far.makeBranch(`emend/${jobId}`),
    ends: "branch_conflict",
  },
  { name: "a push that is answered with 503", at: "push", fault: answer(503, "Busy"), ends: "opened" },
  { name: "a push that is reset", at: "push", fault: { kind: "ignored", how: "reset" }, ends: "opened" },
  { name: "a push that is forbidden", at: "push", fault: answer(403, "No"), ends: refused(/may not push/) },
  {
    name: "a token that expires in the middle",
    at: "nothing",
    arrange: (far) => far.fault(createOperation[far.vendor], { kind: "before", happens: () => far.tokens.clear() }),
    ends: refused(/(?:401|203).*expired/),
  },
];

function openByOther(far: FarEnd, jobId: string): void {
  const head = `emend/${jobId}`;
  openPull(far.state, {
    head,
    base: "main",
    title: "T",
    body: "",
    draft: false,
    labels: [],
    reviewers: [],
    options: {},
  });
}

function hook(far: FarEnd, name: string, words: string): void {
  const path = join(far.state.repository.path, "hooks", name);
  mkdirSync(join(far.state.repository.path, "hooks"), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "${words}" >&2\nexit 1\n`);
  chmodSync(path, 0o755);
}

/** Ordinary answers are awaited for 30 s, also on a busy machine. */
const secondMs = 100;
/** 2 s after it was sent, a request has no effect any more. */
const effectSecondsMax = 20;
/** Long enough for the request to arrive. */
const unansweredSecondMs = 15;

/** The first request to open a pull request gets no answer. Only this one is awaited for a short time. */
function loseFirstCreate(publisher: FarPublisher, forge: Forge): void {
  const { findPullRequests, createPullRequest } = forge;
  let isSent = false;
  Object.assign(forge, {
    async findPullRequests(...asked: Parameters<Forge["findPullRequests"]>) {
      const found = await findPullRequests(...asked);
      if (!isSent) publisher.secondMs = unansweredSecondMs;
      return found;
    },
    createPullRequest(...asked: Parameters<Forge["createPullRequest"]>) {
      isSent = true;
      publisher.secondMs = secondMs;
      return createPullRequest(...asked);
    },
  });
}

// Vendors run concurrently, because they mostly wait. The cases of one vendor run in order, because they share a server.
describe.each(vendors)("$name", { concurrent: true }, (vendor) => {
  let publisher: FarPublisher;
  let count = 0;
  beforeAll(async () => {
    publisher = await startFarPublisher(vendor);
  });
  afterAll(async () => {
    await publisher.close();
    expect(publisher.far.violations).toEqual([]);
  });
  afterEach(() => {
    const { far } = publisher;
    far.tokens.add(far.token);
    Object.assign(far.state, { movedTo: null, archived: false });
    rmSync(join(far.state.repository.path, "hooks"), { recursive: true, force: true });
  });

  const isBitbucket = vendor.name === "bitbucket";
  const met = cases.flatMap(({ onBitbucket, onlyOn, ...one }) => {
    if (onlyOn && !onlyOn.includes(vendor.name)) return [];
    if (!isBitbucket || onBitbucket === undefined) return [one];
    return onBitbucket === "opened" ? [{ ...one, ends: onBitbucket }] : [];
  });

  it.each(met)("$name", { concurrent: false }, async ({ at, fault, arrange, ends, quietMs, mayHaveTwin }) => {
    const { far } = publisher;
    count += 1;
    const jobId = `job_${vendor.name}${count}`;
    const head = `emend/${jobId}`;
    // Each case has its own token, so that a rate limit in one case does not delay another.
    const token = `${far.token}-${count}`;
    far.tokens.add(token);
    const forge = { ...far.open({}, token), effectSecondsMax };
    arrange?.(far, jobId);
    const operation = { find: findOperation[far.vendor], create: createOperation[far.vendor], push, nothing: "" }[at];
    if (fault && !arrange) far.fault(operation, fault);
    const isUnanswered = fault !== undefined && "how" in fault && ["silence", "slow"].includes(fault.how);
    publisher.secondMs = secondMs;
    if (isUnanswered) loseFirstCreate(publisher, forge);
    const before = far.requests.length;

    // Faults after the push need no push.
    const isPushed = at === "find" || at === "create";
    const run = (by: Forge): Promise<{ kind: string }> =>
      isPushed ? publisher.open(jobId, by) : publisher.publish(jobId, { forge: by });
    const outcome = await run(forge).catch((error: AppError) => error);
    if (typeof ends === "string") expect(outcome).toMatchObject({ kind: ends });
    else {
      expect(outcome).toMatchObject({ code: ends.code, retryable: ends.retryable });
      expect((outcome as AppError).publicMessage).toMatch(ends.words);
      expect((outcome as AppError).publicMessage).not.toContain(far.token);
    }
    expect(far.pullsOf(head).length).toBe(ends === "opened" || ends === "found" ? 1 : 0);
    if (mayHaveTwin) expect(publisher.mayStillOpen(jobId)).toBe(true);
    const sent = far.requests.slice(before);
    if (quietMs !== undefined) {
      const met = sent.findIndex((request) => request.operation === operation);
      expect((sent[met + 1]?.atMs ?? 0) - (sent[met]?.atMs ?? 0)).toBeGreaterThanOrEqual(quietMs);
    }
    if (typeof ends !== "string" && ends.retryable) {
      // The forge asked for a pause of an hour or a minute: nothing more is sent, and a later run opens the pull request.
      expect(sent.filter((request) => request.operation === operation)).toHaveLength(1);
      const later = `${token}-later`;
      far.tokens.add(later);
      expect(await run(far.open({}, later))).toMatchObject({ kind: "opened" });
      expect(far.pullsOf(head)).toHaveLength(1);
    }
  });

  it("opens an ordinary pull request, findings first, where there are no drafts", { concurrent: false }, async () => {
    const { far } = publisher;
    far.state.draftsSupported = false;
    const introduced = [
      { rule: "links", severity: "error", path: "guides/new.md", line: 2, message: "Broken." },
    ] as never;
    const checks = { introduced, fixed: [], findingsBefore: 0, findingsAfter: 1 };
    const outcome = await publisher.publish(`job_${vendor.name}draft`, { draft: true, checks });
    expect(outcome).toMatchObject({ kind: "opened", pullRequest: { draft: vendor.name !== "github" } });
    const [pull] = far.pullsOf(`emend/job_${vendor.name}draft`);
    const title = { github: "[needs review] ", gitlab: "Draft: ", gitea: "WIP: ", bitbucket: "", "azure-devops": "" }[
      vendor.name
    ];
    expect(pull?.title).toBe(`${title}Replace a term`);
    const body = pull?.body ?? "";
    expect(body.indexOf("### New findings") < body.indexOf("Replaced the term")).toBe(vendor.name === "github");
  });
});
