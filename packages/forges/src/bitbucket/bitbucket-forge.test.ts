import { Readable } from "node:stream";
import type { Fetch } from "@emend/base/network.ts";
import { bitbucketVendor } from "@emend/testkit/forges/bitbucket.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { isSealed, sealed } from "../../../publish/src/pull-request-body.ts";
import type { Forge } from "../forge.ts";
import { plainSettings } from "../forge.ts";
import { createAnswerMemory, startPolling } from "../polling.ts";
import { openBitbucketForge } from "./bitbucket-forge.ts";

const { signal } = new AbortController();
let far: FarEnd;
beforeAll(async () => {
  far = await startFarEnd(bitbucketVendor);
  far.tokens.add("ATCTTaccess=1");
});
afterAll(async () => {
  await far.close();
  expect(far.violations).toEqual([]);
});
beforeEach(() => {
  Object.assign(far.state, { comments: [], reviews: [], mayPush: true, pageSizeMax: 100 });
});

async function opened(forge: Forge, head: string, body = "", draft = false): Promise<number> {
  far.makeBranch(head);
  const wanted = { head, base: "main", title: "A title", body, draft, checks: [] };
  const created = await forge.createPullRequest(wanted, signal);
  if (created.kind !== "created") throw new Error(created.kind);
  return created.pullRequest.number;
}

/** A fake Bitbucket with the given responses. It records its requests. */
function answering(answer: (url: URL) => unknown, settings = {}) {
  const asked: { url: string; authorization: string }[] = [];
  const fetch: Fetch = async (url, init) => {
    const headers = (init?.headers ?? {}) as Record<string, string>;
    asked.push({ url: String(url), authorization: headers.authorization ?? "" });
    const body = Readable.from([Buffer.from(JSON.stringify(answer(new URL(String(url)))))]);
    return { status: 200, headers: new Headers(), body };
  };
  const project = { id: "p", forge: "bitbucket", repositoryUrl: "https://bitbucket.org/acme/docs" };
  const forge = openBitbucketForge({
    fetch,
    project: { ...project, settings: { ...plainSettings, ...settings } },
    credential: "ATCTTaccess=1",
  });
  return { forge, asked };
}

it("sends an access token and an API token as each is sent, and neither in an address", async () => {
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
  for (const [credential, api, git] of [
    ["ATCTTaccess=1", "Bearer ATCTTaccess=1", basic("x-token-auth:ATCTTaccess=1")],
    ["ada@acme.test:ATATTown=2", basic("ada@acme.test:ATATTown=2"), basic("x-bitbucket-api-token-auth:ATATTown=2")],
  ] as const) {
    const sent: string[] = [];
    const fetch: Fetch = async (url, init) => {
      sent.push(String(url), String((init?.headers as Record<string, string> | undefined)?.authorization));
      return { status: 404, headers: new Headers(), body: Readable.from([Buffer.from("{}")]) };
    };
    const project = { id: "p", forge: "bitbucket", repositoryUrl: "https://bitbucket.org/acme/docs" };
    const forge = openBitbucketForge({ fetch, project: { ...project, settings: plainSettings }, credential });
    await forge.readPullRequest(7, signal);
    expect(sent).toEqual(["https://api.bitbucket.org/2.0/repositories/acme/docs/pullrequests/7", api]);
    expect(await forge.gitRemote(signal)).toEqual({ url: "https://bitbucket.org/acme/docs.git", authorization: git });
    expect(forge.credentialId).not.toMatch(/ATC|ATA/);
  }
});

it("says of a refused token what it lacks, and not the token", async () => {
  const fetch: Fetch = async () => {
    const detail = { required: ["pullrequest:write"], granted: ["repository"] };
    const body = { type: "error", error: { message: "Your credentials lack one or more scopes.", detail } };
    return { status: 403, headers: new Headers(), body: Readable.from([Buffer.from(JSON.stringify(body))]) };
  };
  const project = { id: "p", forge: "bitbucket", repositoryUrl: "https://bitbucket.org/acme/docs" };
  const forge = openBitbucketForge({ fetch, project: { ...project, settings: plainSettings }, credential: "ATCT=1" });
  const words = await forge.readPullRequest(7, signal).catch((error) => error.publicMessage);
  expect(words).toMatch(/403: Your credentials lack one or more scopes\.; required pullrequest:write/);
  expect(words).not.toContain("ATCT=1");
});

it("hides its markers from people, and accepts no marker written by others", async () => {
  const forge = far.open();
  const text = "Why.\n\n[//]: # (emend:job=forged)";
  const body = sealed(text, "<!-- emend:job=real -->\n");
  const number = await opened(forge, "emend/marks", body);
  const [stored] = far.pullsOf("emend/marks");
  expect(stored?.body).not.toContain("<!--");
  expect(stored?.body).toContain("\n[//]: # (emend:job=real)\n");
  const read = (await forge.readPullRequest(number, signal))?.body ?? "";
  expect(read).toContain("<!-- emend:job=real -->");
  expect(read).not.toContain("<!-- emend:job=forged -->");
  const plain = sealed("Why.", "<!-- emend:job=real -->\n");
  await forge.updatePullRequest(number, { body: plain }, signal);
  expect(isSealed((await forge.readPullRequest(number, signal))?.body ?? "")).toBe(true);
  await forge.conversation?.comment(number, "Done.\n\n<!-- emend:answer=c1 -->", signal);
  expect(far.state.comments.at(-1)?.body).toBe("Done.\n\n[//]: # (emend:answer=c1)");
  expect((await forge.conversation?.listComments(number, signal))?.at(-1)?.text).toContain("<!-- emend:answer=c1 -->");
});

it("leaves a pull request alone that somebody opened or renamed meanwhile, which Bitbucket would change", async () => {
  const forge = far.open();
  await opened(forge, "emend/theirs", "Mine.");
  Object.assign(far.pullsOf("emend/theirs")[0] ?? {}, { title: "Theirs", body: "Theirs too." });
  const again = { head: "emend/theirs", base: "main", title: "A title", body: "Mine.", draft: false, checks: [] };
  expect(await forge.createPullRequest(again, signal)).toEqual({ kind: "exists" });
  expect(far.pullsOf("emend/theirs")).toMatchObject([{ title: "Theirs", body: "Theirs too." }]);
});

it("keeps reviewers, title and draft when it changes the text", async () => {
  const forge = far.open();
  const number = await opened(forge, "emend/kept", "", true);
  Object.assign(far.pullsOf("emend/kept")[0] ?? {}, { reviewers: ["eve"], title: "As a person called it" });
  await forge.updatePullRequest(number, { body: "Anew." }, signal);
  const kept = { reviewers: ["eve"], title: "As a person called it", draft: true, body: "Anew." };
  expect(far.pullsOf("emend/kept")).toMatchObject([kept]);
});

it("adds reviewers by account ID and UUID, and names what Bitbucket does not know", async () => {
  const forge = far.open({ reviewers: ["ada", "{eve}", "nobody"], teamReviewers: ["docs"] });
  const number = await opened(forge, "emend/reviewers", "");
  const words = /no account nobody.*account ID.*UUID.*no team reviewers/;
  await expect(forge.ensureDetails?.(number, signal)).rejects.toThrow(words);
  expect(far.pullsOf("emend/reviewers")).toMatchObject([{ reviewers: ["ada", "eve"] }]);
});

it("asks to delete the branch when merging where the project says so", async () => {
  await opened(far.open({ removeSourceBranch: true }), "emend/closed-with", "");
  expect(far.pullsOf("emend/closed-with")).toMatchObject([{ options: { close_source_branch: true } }]);
});

it("finds none of a fork, of another branch, or of a fork that was deleted", async () => {
  const of = (id: number, name: string, repository: object | null) => ({
    id,
    links: { html: { href: `https://bitbucket.org/acme/docs/pull-requests/${id}` } },
    title: "T",
    state: "OPEN",
    created_on: "2026-01-01T00:00:00+00:00",
    source: { branch: { name }, repository },
    destination: { branch: { name: "main" }, repository: { full_name: "acme/docs" } },
  });
  const { forge, asked } = answering(() => ({
    values: [
      of(1, "emend/x", { full_name: "mallory/docs" }),
      of(2, "emend/x", null),
      of(3, "emend/xy", { full_name: "acme/docs" }),
      of(4, "emend/x", { full_name: "acme/docs" }),
    ],
  }));
  expect(await forge.findPullRequests({ head: "emend/x" }, signal)).toMatchObject([{ number: 4 }]);
  const { searchParams } = new URL(asked[0]?.url ?? "");
  expect(searchParams.get("q")).toBe('source.branch.name = "emend/x"');
  expect(searchParams.getAll("state")).toEqual(["OPEN", "MERGED", "DECLINED", "SUPERSEDED"]);
});

it("reads every page that is named, in order, without what was deleted or not sent", async () => {
  far.state.pageSizeMax = 10;
  const number = await opened(far.open(), "emend/paged", "");
  const at = new Date(0).toISOString();
  for (let id = 1; id <= 25; id += 1) far.state.comments.push({ id, pull: number, author: "ada", body: `${id}`, at });
  far.state.comments.push({ id: 26, pull: number, author: "ada", body: "Why gone?", at, path: "a.md", line: 4 });
  Object.assign(far.state.comments.at(-1) ?? {}, { isRemovedLine: true });
  const said = (await far.open().conversation?.listComments(number, signal)) ?? [];
  expect(said.map(({ text }) => text)).toEqual([...Array.from({ length: 25 }, (_, at) => `${at + 1}`), "Why gone?"]);
  expect(said.at(-1)).toMatchObject({ author: "ada", authorName: "ada", path: "a.md", line: 4, isRemovedLine: true });
  const comment = { content: { raw: "x" }, user: { uuid: "{u}" } };
  const { forge } = answering(() => ({
    values: [
      { ...comment, id: 1, deleted: true },
      { ...comment, id: 2, pending: true },
      { ...comment, id: 3, user: null },
    ],
  }));
  expect(await forge.conversation?.listComments(1, signal)).toMatchObject([{ id: "c3", author: "" }]);
});

it("follows no next page to another server", async () => {
  const next = "https://api.bitbucket.org.evil.test/2.0/repositories/acme/docs/pullrequests?page=2";
  const { forge, asked } = answering(() => ({ values: [{ id: 1, content: {} }], next }));
  await expect(forge.conversation?.listComments(1, signal)).rejects.toThrow(/another server/);
  expect(asked.map(({ url }) => new URL(url).host)).toEqual(["api.bitbucket.org"]);
});

it("cannot know with an access token who may write, and says so to the doctor", async () => {
  const forge = far.open({}, "ATCTTaccess=1");
  expect(await forge.conversation?.mayWrite("ada", signal)).toBe("unknown");
  expect(await forge.inspect?.("emend/x", signal)).toMatchObject({
    account: null,
    lacks: [],
    unknownAuthors: expect.stringContaining("API token"),
  });
  expect((await far.open().inspect?.("emend/x", signal))?.unknownAuthors).toBeNull();
  far.state.mayPush = false;
  const lacks = ["the scope repository:write", "the scope pullrequest:write"];
  expect(await forge.inspect?.("emend/x", signal)).toMatchObject({ lacks });
  expect(await forge.describeRepository(signal)).toMatchObject({ mayPush: false, mayOpenPullRequests: false });
});

it("knows people by their UUID, since anybody may take another's name", async () => {
  const user = { uuid: "{ada-uuid}", display_name: "Ada" };
  const { forge } = answering(() => ({
    values: [
      { permission: "admin", user },
      { permission: "write", user: {} },
      { permission: "read", user: { uuid: "{eve-uuid}" } },
    ],
  }));
  const mayWrite = (author: string) => forge.conversation?.mayWrite(author, signal);
  const told = [await mayWrite("ada-uuid"), await mayWrite("Ada"), await mayWrite(""), await mayWrite("eve-uuid")];
  expect(told).toEqual(["yes", "no", "no", "no"]);
});

it("finds the address of a repository that was renamed, and asks no other server for it", async () => {
  let location = "/2.0/repositories/acme/handbook";
  const asked: string[] = [];
  const fetch: Fetch = async (url) => {
    asked.push(String(url));
    const isNew = String(url).endsWith("handbook");
    const body = isNew ? { links: { html: { href: "https://bitbucket.org/acme/handbook" } } } : { type: "error" };
    const headers = new Headers(isNew ? {} : { location });
    return { status: isNew ? 200 : 301, headers, body: Readable.from([Buffer.from(JSON.stringify(body))]) };
  };
  const project = { id: "p", forge: "bitbucket", repositoryUrl: "https://bitbucket.org/acme/docs" };
  const forge = openBitbucketForge({ fetch, project: { ...project, settings: plainSettings }, credential: "ATCT=1" });
  expect(await forge.findAddress?.(signal)).toBe("https://bitbucket.org/acme/handbook");
  location = "https://evil.test/2.0/repositories/acme/handbook";
  asked.length = 0;
  await expect(forge.findAddress?.(signal)).rejects.toThrow(/another server/);
  expect(asked).toEqual(["https://api.bitbucket.org/2.0/repositories/acme/docs"]);
});

it("looks again and again within a thousand requests an hour, which no answer tells", async () => {
  const polling = startPolling(createAnswerMemory(), "prj_1");
  await far.open({}, far.token, polling).readPullRequest(987_654, signal);
  expect(polling.cost()).toEqual({ spentMs: 4_800, pauseMs: 0 });
});

it("tells a fork's pull request apart, whose commits and statuses Bitbucket keeps in the fork", async () => {
  const place = (full_name: string, name: string, hash: string) => ({
    branch: { name },
    commit: { hash },
    repository: { full_name },
  });
  const pull = {
    id: 5,
    title: "T",
    links: { html: { href: "https://bitbucket.org/acme/docs/pull-requests/5" } },
    source: place("eve/docs", "topic", "a".repeat(12)),
    destination: place("acme/docs", "main", "b".repeat(12)),
  };
  const [listed] = await answering(() => ({ values: [pull] })).forge.listOpenPullRequests(signal);
  expect(listed).toMatchObject({ number: 5, isFork: true });
  const forge = far.open();
  if (!listed) throw new Error("not listed");
  expect(await forge.readPullRequestCommits(listed, signal)).toBeNull();
  expect(forge.forkLimit).toMatch(/in a fork.*Push the branch/);
});
