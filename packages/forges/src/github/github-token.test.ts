import { generateKeyPairSync, verify } from "node:crypto";
import { createFetch, type Fetch } from "@emend/base/network.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { plainSettings } from "../forge.ts";
import { openGithubForge } from "./github-forge.ts";
import type { GithubTokens } from "./github-token.ts";

const { signal } = new AbortController();
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const credential = JSON.stringify({ appId: "5", privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) });
const network = createFetch({});
let far: FarEnd;
beforeAll(async () => {
  far = await startFarEnd(githubVendor);
});
afterAll(async () => {
  await far.close();
  await network.close();
  expect(far.violations).toEqual([]);
});

it("makes a token for the App's installation, keeps it, and replaces it before it expires", async () => {
  const proofs: string[] = [];
  const bodies: unknown[] = [];
  const fetch: Fetch = (url, init) => {
    if (url.includes("/access_tokens")) {
      proofs.push(init.headers.authorization ?? "");
      bodies.push(JSON.parse(init.body ?? ""));
    }
    return network.fetch(url, init);
  };
  const project = { id: "prj_app", forge: "github", repositoryUrl: far.repositoryUrl, settings: plainSettings };
  const tokens = new Map();
  const forge = openGithubForge({ fetch, project, credential, tokens });

  // The first token lives five minutes, too short for a push: the next use makes another, which is cached.
  await forge.describeRepository(signal);
  await forge.findPullRequests({ head: "emend/none" }, signal);
  await forge.findPullRequests({ head: "emend/none" }, signal);
  expect(far.state.issued).toEqual(["ghs_1", "ghs_2"]);
  const remote = await forge.gitRemote(signal);
  const basic = Buffer.from((remote.authorization ?? "").slice(6), "base64").toString("utf8");
  expect(basic).toBe("x-access-token:ghs_2");

  expect(bodies[0]).toEqual({
    repositories: ["docs"],
    permissions: { contents: "write", pull_requests: "write", metadata: "read" },
  });
  // Commit statuses only if the App's installation grants them.
  far.state.app.granted.statuses = "write";
  await openGithubForge({ fetch, project, credential, tokens: new Map() }).gitRemote(signal);
  expect(bodies.at(-1)).toMatchObject({ permissions: { contents: "write", statuses: "write" } });
  proofs.pop();
  const [head, claims, signature = ""] = (proofs[0] ?? "").slice("Bearer ".length).split(".");
  expect(verify("sha256", Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, "base64url"))).toBe(true);
  const { iss, iat, exp } = JSON.parse(Buffer.from(claims ?? "", "base64url").toString("utf8"));
  expect(iss).toBe("5");
  expect(exp - iat).toBeLessThanOrEqual(600);

  // Without the App's key, its cached token is not found.
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const forged = JSON.stringify({ appId: "5", privateKey: other.export({ type: "pkcs8", format: "pem" }) });
  await openGithubForge({ fetch, project, credential: forged, tokens }).gitRemote(signal);
  expect(proofs).toHaveLength(3);
});

it("drops a token that GitHub refuses and makes one more, for requests and for git", async () => {
  const project = { id: "prj_app", forge: "github", repositoryUrl: far.repositoryUrl, settings: plainSettings };
  const refused = new Set<string>();
  let minted = 0;
  const fetch: Fetch = (url, init) => {
    if (url.includes("/access_tokens")) minted += 1;
    const isRefused = refused.has(init.headers.authorization ?? "");
    if (!isRefused) return network.fetch(url, init);
    return Promise.resolve({ status: 401, headers: new Headers(), body: null });
  };
  const tokens: GithubTokens = new Map();
  const forge = openGithubForge({ fetch, project, credential, tokens });
  const known = async () => (await [...tokens.values()][0]) as { token: string; checkedAtMs: number };
  // The first token of this server is short-lived and is replaced in any case.
  await forge.describeRepository(signal);
  await forge.describeRepository(signal);
  const before = minted;
  refused.add(`Bearer ${(await known()).token}`);
  await Promise.all([forge.describeRepository(signal), forge.findPullRequests({ head: "emend/none" }, signal)]);
  expect(minted - before).toBeLessThanOrEqual(2);

  // Git cannot ask again: its token is tried first if nothing used it for a while.
  const old = await known();
  old.checkedAtMs = 0;
  refused.add(`Bearer ${old.token}`);
  const { authorization } = await forge.gitRemote(signal);
  expect(Buffer.from((authorization ?? "").slice(6), "base64").toString()).toBe(
    `x-access-token:${(await known()).token}`,
  );
  expect((await known()).token).not.toBe(old.token);
});
