// GITEA_TOKEN=… node example.ts https://host/owner/docs branch: opens a pull request for a pushed branch, once.
import { createFetch } from "@emend/base/network.ts";
import { openRemoteForge, plainSettings } from "@emend/forges";

const [repositoryUrl = "", head = ""] = process.argv.slice(2);
const project = { id: "docs", forge: "gitea", repositoryUrl, settings: plainSettings };
const credential = process.env.GITEA_TOKEN ?? "";
const { fetch, close } = createFetch({});
const forge = openRemoteForge({ fetch, project, credential, tokens: new Map() });

const signal = AbortSignal.timeout(60_000);
const { defaultBranch } = await forge.describeRepository(signal);
const base = defaultBranch ?? "main";
const draft = { head, base, title: "Docs: one edit", body: "Proposed by a script.", draft: false, checks: [] };
const known = (await forge.findPullRequests({ head, base }, signal)).find(({ state }) => state === "open");
const outcome = known ? { kind: "exists" } : await forge.createPullRequest(draft, signal);
console.log(outcome.kind, (await forge.findPullRequests({ head, base }, signal))[0]?.url);
await close();
