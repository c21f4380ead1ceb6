// Longer than other files: the faults that a far end can have change together with the server that has them.
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFetch } from "@emend/base/network.ts";
import { type Forge, type ForgeSettings, openRemoteForge, type Polling, plainSettings } from "@emend/forges";
import { serveGit } from "../git-http-server.ts";
import { makeRepository, type TestRepository } from "../make-repository.ts";
import { type Answer, send } from "./answer.ts";
import { type ApiDescription, createApiJudge } from "./api-judge.ts";
import type { Fault } from "./faults.ts";
import { applyFault } from "./faults.ts";

/** A pull request in a form that all vendors share. */
export interface FarPull {
  number: number;
  head: string;
  base: string;
  title: string;
  body: string;
  state: "open" | "closed" | "merged";
  draft: boolean;
  labels: string[];
  reviewers: string[];
  options: Record<string, unknown>;
  /** GitLab: the head of a branch that is in a fork. */
  fork?: string;
  hasConflicts?: boolean;
  at: string;
}

/** GitLab: what a commit was built with. `merge`: the merge request that it belongs to. Absent: a branch's. */
export interface FarPipeline {
  id: number;
  project: number;
  sha: string;
  ref: string;
  merge?: number;
  jobs: { name: string; state: string; words: string; url: string }[];
}

/** What CI says about a commit. */
export interface FarCheck {
  id: number;
  commit: string;
  name: string;
  state: "pending" | "passed" | "failed" | "stopped";
  words: string;
  /** Absent: another service set it as a status. */
  log?: string;
}

export interface FarComment {
  id: number;
  pull: number;
  author: string;
  body: string;
  path?: string;
  line?: number;
  /** The comment is on a line that the change removes. */
  isRemovedLine?: boolean;
  /** The review that it belongs to. Absent: a separate one. */
  review?: number;
  /** The comment that began its thread. */
  replyTo?: number;
  /** GitLab: only members of the project can read it. */
  isInternal?: boolean;
  /** GitLab wrote it about what its author did. */
  isSystem?: boolean;
  at: string;
}

/** Its comments are in `comments`, by its number. */
export interface FarIssue {
  number: number;
  title: string;
  body: string;
  isOpen: boolean;
  /** GitLab only. */
  isConfidential?: boolean;
  /** Who added and removed labels, oldest first. */
  labellings: { id: number; label: string; author: string; isAdded: boolean; at: string }[];
}

/** A review with its own text. */
export interface FarReview {
  id: number;
  pull: number;
  author: string;
  body: string;
  state: "approved" | "changes" | "comment" | "pending";
  at: string;
}

export interface FarState {
  pulls: FarPull[];
  comments: FarComment[];
  reviews: FarReview[];
  issues: FarIssue[];
  /** By commit and name, in the vendor's own format: a later status replaces an earlier one. */
  statuses: Map<string, { name: string; state: string; words: string; url: string }>;
  /** GitLab: of the project and of its forks, oldest first. */
  pipelines: FarPipeline[];
  checks: FarCheck[];
  /** Why it merges nothing, and the methods that the repository allows. */
  mergeRefusal: string | null;
  mergeMethods: string[];
  /** GitHub: the token may not read check runs. */
  unreadableChecks: boolean;
  /** GitLab: whether the token's owner may change protected branches. */
  isMaintainer: boolean;
  /** Permissions: "write", "read". Other users are unknown. */
  people: Record<string, "write" | "read">;
  labels: string[];
  /** Gitea: the organization's members. */
  organizationLabels: string[];
  /** Gitea: the repository's teams with their permission on the code. Null: it belongs to a user. */
  teams: { name: string; code: "read" | "write"; members: string[] }[] | null;
  /** Gitea: whether the token's owner administers the repository. */
  isAdmin: boolean;
  /** The server's maximum page size. */
  pageSizeMax: number;
  archived: boolean;
  /** It responds 503 to everything, git included. */
  isAway: boolean;
  /** Whether the token's owner may push. Null: the forge does not say. */
  mayPush: boolean | null;
  movedTo: string | null;
  draftsSupported: boolean;
  /** What remains of the token's rate limit, if the server reports it. */
  rate: { limit: number; remaining: number; resetAtMs: number } | null;
  /** The pattern of protected branches, which reject pushes. */
  closedBranches: string | null;
  /** Null: only the owner may read them. */
  hooks: { url: string; isActive: boolean; lastStatus: number }[] | null;
  tokenEndsOn: string | null;
  version: string;
  /** Tokens that it created for an App. */
  issued: string[];
  /** The App that it created from a manifest. `code` works once. */
  app: {
    code: string | null;
    privateKey: string;
    installed: boolean;
    isDeleted: boolean;
    hook: Record<string, string> | null;
    /** The permissions that were granted on installation. */
    granted: Record<string, string>;
    /** The permissions in an access token's response, if they differ from the requested ones. */
    tokenSays: Record<string, string> | null;
  };
  repository: TestRepository;
  /** Paths of other repositories that the credential reaches: `-old` is archived, `-read` may not be pushed to. */
  otherRepositories: string[];
  /** Its web address. */
  url: string;
  path: string;
}

/** A vendor's own behavior, beyond what all of them share. */
export interface Vendor {
  name: "github" | "gitlab" | "gitea" | "bitbucket" | "azure-devops";
  apiPath: string;
  path: string;
  description: ApiDescription;
  /** Handlers, by `METHOD /path/{parameter}`. */
  handlers: Record<string, (state: FarState, request: FarRequest) => Answer | Promise<Answer>>;
  /** The token in an API request, or in git's basic authorization. */
  tokenOf(authorization: string): string | null;
  isAppRequest?(path: string): boolean;
  /** A GraphQL endpoint, which no description covers. */
  graph?: { path: string; handle(state: FarState, body: unknown): Answer };
  /** A credential as people enter it, if that is not the token alone. */
  newToken?(): string;
  /** Headers that every request from Emend must have. */
  requiredHeaders?: Readonly<Record<string, string>>;
  version?: string;
  refusal(status: number, words: string): unknown;
  /** The operation that reads the repository. */
  repositoryOperation: string;
  /** Whether responses have an `ETag`, and whether a 304 counts against the rate limit. */
  etags?: { isUnmodifiedFree: boolean };
  /** How it answers at a repository's old place. 301 to its new place by default. */
  movedAnswer?(method: string, location: string): Answer | null;
  /** Its answer to a token that it does not know. 401 by default. */
  unknownToken?: Answer;
  /** Whether a path below `apiPath` is the API's. All are by default. */
  isApi?(pathname: string): boolean;
  /** How the API's paths name a repository. By its path by default. */
  apiPlaceOf?(path: string): string;
  /** The names of its rate limit headers. */
  ratePrefix?: string;
}

interface FarRequest {
  token: string;
  parameters: Record<string, string>;
  query: URLSearchParams;
  // biome-ignore lint/suspicious/noExplicitAny: checked against the vendor's description before it gets here
  body: any;
  /** What the server does between its check and its effect: it takes a while. */
  work(): Promise<void>;
}

export interface FarEnd {
  vendor: Vendor["name"];
  url: string;
  repositoryUrl: string;
  apiUrl: string;
  tokens: Set<string>;
  token: string;
  state: FarState;
  /** API and git requests, in order. `operation` as in the description, or `git <service>`. */
  requests: { operation: string; atMs: number; status?: number }[];
  /** Injects faults into the next requests of that operation, once each. */
  fault(operation: string, fault: Fault, times?: number): void;
  /** Differences from the vendor's description. */
  violations: string[];
  open(settings?: Partial<ForgeSettings>, credential?: string, polling?: Polling): Forge;
  makeBranch(name: string): string;
  pullsOf(head: string): FarPull[];
  close(): Promise<void>;
}

export async function startFarEnd(vendor: Vendor): Promise<FarEnd> {
  const dir = mkdtempSync(join(tmpdir(), `emend-${vendor.name}-`));
  const repository = makeRepository(join(dir, `${vendor.path}.git`));
  repository.commit({
    "guides/start.md": "# Start\n\nUse your API token.\n",
    "guides/other.md": "# Other\n\nNothing here.\n",
  });
  const judge = createApiJudge(vendor.description);
  const token = vendor.newToken?.() ?? `tok_${randomBytes(12).toString("hex")}`;
  const tokens = new Set([token]);
  const requests: FarEnd["requests"] = [];
  const violations: string[] = [];
  const faults: { operation: string; fault: Fault }[] = [];
  const state: FarState = {
    pulls: [],
    comments: [],
    reviews: [],
    issues: [],
    statuses: new Map(),
    pipelines: [],
    checks: [],
    mergeRefusal: null,
    mergeMethods: ["merge"],
    unreadableChecks: false,
    isMaintainer: false,
    people: { ada: "write", eve: "read" },
    labels: ["docs", "emend"],
    organizationLabels: [],
    teams: [{ name: "Writers", code: "write", members: ["ada"] }],
    isAdmin: false,
    pageSizeMax: 100,
    archived: false,
    isAway: false,
    mayPush: true,
    movedTo: null,
    draftsSupported: true,
    rate: null,
    closedBranches: null,
    hooks: [],
    tokenEndsOn: null,
    version: vendor.version ?? "1",
    issued: [],
    app: {
      code: null,
      privateKey: "",
      installed: true,
      isDeleted: false,
      hook: null,
      granted: { contents: "write", pull_requests: "write", metadata: "read", issues: "read" },
      tokenSays: null,
    },
    repository,
    otherRepositories: [],
    url: "",
    path: vendor.path,
  };
  const network = createFetch({});

  async function answerApi(
    request: IncomingMessage,
    url: URL,
    work = async () => {},
  ): Promise<{ operation: string; answer: Answer }> {
    if (vendor.graph && url.pathname === vendor.graph.path) {
      const given = vendor.tokenOf(request.headers.authorization ?? "") ?? "";
      const body = JSON.parse(await readBody(request));
      const isKnown = tokens.has(given) || state.issued.includes(given);
      const refused = { status: 401, body: vendor.refusal(401, "Bad credentials") };
      return { operation: "graphql", answer: isKnown ? vendor.graph.handle(state, body) : refused };
    }
    const path = url.pathname.slice(vendor.apiPath.length);
    const placeOf = vendor.apiPlaceOf ?? ((place: string) => place);
    // The new place of a moved repository: the same content, at a path that descriptions omit.
    const isRenamed = state.path !== vendor.path && decodeURIComponent(path).includes(placeOf(state.path));
    const isNewPlace = state.movedTo === path;
    const matched = isNewPlace
      ? { operation: vendor.repositoryOperation, parameters: { id: state.path } as Record<string, string> }
      : match(vendor, request.method ?? "", path);
    if (!matched) {
      violations.push(`${request.method} ${url.pathname} is not served`);
      return { operation: "unknown", answer: { status: 404, body: vendor.refusal(404, "Not Found") } };
    }
    const { operation, parameters } = matched;
    const text = await readBody(request);
    const body = text === "" ? undefined : JSON.parse(text);
    violations.push(...judge.request(operation, url.searchParams, body));
    for (const [name, value] of Object.entries(vendor.requiredHeaders ?? {})) {
      if (request.headers[name] !== value) violations.push(`${operation}: the header ${name} is not ${value}`);
    }
    const given = vendor.tokenOf(request.headers.authorization ?? "");
    const isKnown = given !== null && (tokens.has(given) || state.issued.includes(given));
    if (!vendor.isAppRequest?.(url.pathname) && !isKnown) {
      return {
        operation,
        answer: vendor.unknownToken ?? { status: 401, body: vendor.refusal(401, "Bad credentials") },
      };
    }
    const isOldPlace = decodeURIComponent(path).includes(placeOf(vendor.path));
    if (state.movedTo && isOldPlace && !isNewPlace && !isRenamed) {
      const location = `${state.url}${vendor.apiPath}${state.movedTo}`;
      const moved = { status: 301, body: vendor.refusal(301, "Moved Permanently"), headers: { location } };
      return { operation, answer: vendor.movedAnswer?.(request.method ?? "", location) ?? moved };
    }
    const acted = await vendor.handlers[operation]?.(state, {
      token: given ?? "",
      parameters,
      query: url.searchParams,
      body,
      work,
    });
    if (!acted) throw new Error(`no handler for ${operation}`);
    const example = vendor.description.operations[operation]?.examples?.[acted.status];
    const answer = { ...acted, body: like(example, acted.body) };
    violations.push(...judge.answer(operation, answer.status, answer.body));
    return { operation, answer };
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", state.url);
    const isGraph = url.pathname === vendor.graph?.path;
    const isApi = isGraph || (url.pathname.startsWith(`${vendor.apiPath}/`) && (vendor.isApi?.(url.pathname) ?? true));
    const operation = isGraph
      ? "graphql"
      : isApi
        ? (match(vendor, request.method ?? "", url.pathname.slice(vendor.apiPath.length))?.operation ?? "unknown")
        : `git ${url.searchParams.get("service") ?? url.pathname.split("/").at(-1)}`;
    const entry: FarEnd["requests"][number] = { operation, atMs: performance.now() };
    requests.push(entry);
    if (state.isAway) {
      request.resume();
      return send(response, { status: 503, body: vendor.refusal(503, "Down for maintenance") });
    }
    if (url.pathname.startsWith(storedLogs)) {
      if (request.headers.authorization) violations.push("a credential was sent to the store of logs");
      return send(response, logOf(state, url.pathname.slice(storedLogs.length)));
    }
    const index = faults.findIndex((waiting) => waiting.operation === operation);
    const [met] = index === -1 ? [] : faults.splice(index, 1);
    const serve = async () => {
      if (!isApi) return void serveGitTo(request, response);
      const { answer } = await answerApi(request, url);
      const sent = limited(vendor, state, conditional(vendor, request, answer));
      entry.status = sent.status;
      send(response, sent);
    };
    if (!met) return serve();
    await applyFault(met.fault, {
      request,
      response,
      vendor,
      perform: (work) => answerApi(request, url, work),
      serve,
      isApi,
    });
  });

  function serveGitTo(request: IncomingMessage, response: ServerResponse): void {
    const given = vendor.tokenOf(request.headers.authorization ?? "");
    if (given === null || !(tokens.has(given) || state.issued.includes(given))) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return;
    }
    serveGit(dir, request, response);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const repositoryUrl = `${state.url}/${vendor.path}`;

  return {
    vendor: vendor.name,
    url: state.url,
    repositoryUrl,
    apiUrl: `${state.url}${vendor.apiPath}`,
    tokens,
    token,
    state,
    requests,
    violations,
    fault: (operation, fault, times = 1) => {
      for (let time = 0; time < times; time += 1) faults.push({ operation, fault });
    },
    open: (settings = {}, credential = token, polling = undefined) =>
      openRemoteForge({
        fetch: network.fetch,
        tokens: new Map(),
        credential,
        ...(polling && { polling }),
        project: { id: "prj_far", forge: vendor.name, repositoryUrl, settings: { ...plainSettings, ...settings } },
      }),
    makeBranch(name) {
      return repository.commit(
        { [`${name.replaceAll("/", "-")}.md`]: `${name}\n` },
        { branch: name, from: repository.git("rev-parse", "refs/heads/main") },
      );
    },
    pullsOf: (head) => state.pulls.filter((pull) => pull.head === head),
    async close() {
      await network.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** GitHub keeps logs in a store of their own, whose addresses need no credential. */
export const storedLogs = "/stored-logs/";

export function logOf(state: FarState, id: string | undefined): Answer {
  const log = state.checks.find((check) => check.id === Number(id))?.log;
  if (log === undefined) return { status: 404, body: { message: "Not Found" } };
  return { status: 200, body: {}, text: log };
}

/** Responds 304 to a conditional request whose answer has not changed. */
function conditional(vendor: Vendor, request: IncomingMessage, answer: Answer): Answer {
  if (!vendor.etags || request.method !== "GET" || answer.status !== 200) return answer;
  const etag = `W/"${createHash("sha256").update(JSON.stringify(answer.body)).digest("hex")}"`;
  if (request.headers["if-none-match"] === etag) return { status: 304, body: undefined, headers: { etag } };
  return { ...answer, headers: { ...answer.headers, etag } };
}

function limited(vendor: Vendor, { rate }: FarState, answer: Answer): Answer {
  if (!rate) return answer;
  if (answer.status !== 304 || !vendor.etags?.isUnmodifiedFree) rate.remaining -= 1;
  const named = (name: string, value: number) => [`${vendor.ratePrefix ?? "ratelimit"}-${name}`, String(value)];
  const { limit, remaining, resetAtMs } = rate;
  const told = [named("limit", limit), named("remaining", remaining), named("reset", Math.ceil(resetAtMs / 1000))];
  return { ...answer, headers: { ...answer.headers, ...Object.fromEntries(told) } };
}

/** The vendor's own example of a response, overwritten with this server's values. */
function like(example: unknown, body: unknown): unknown {
  if (Array.isArray(body)) return body.map((item) => like(Array.isArray(example) ? example[0] : undefined, item));
  if (!isRecord(body)) return body;
  if (!isRecord(example)) return body;
  const said = Object.entries(body).map(([name, value]) => [name, like(example[name], value)]);
  return { ...example, ...Object.fromEntries(said) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function match(vendor: Vendor, method: string, path: string) {
  const parts = path.split("/");
  const matches: { operation: string; parameters: Record<string, string> }[] = [];
  for (const operation of Object.keys(vendor.description.operations)) {
    const [verb, pattern = ""] = operation.split(" ");
    const wanted = pattern.split("/");
    // A ref contains slashes.
    const given =
      ["{ref}", "{branch}", "{head}"].includes(wanted.at(-1) ?? "") && parts.length > wanted.length
        ? [...parts.slice(0, wanted.length - 1), parts.slice(wanted.length - 1).join("/")]
        : parts;
    if (verb !== method || wanted.length !== given.length) continue;
    const parameters: Record<string, string> = {};
    const fits = wanted.every((part, index) => {
      const value = decodeURIComponent(given[index] ?? "");
      if (!part.startsWith("{")) return part === value;
      parameters[part.slice(1, -1)] = value;
      return value !== "";
    });
    if (fits) matches.push({ operation, parameters });
  }
  // Of several matches, the one with most literal segments: `/pulls/{index}/reviews` before `/pulls/{base}/{head}`.
  const words = ({ operation }: (typeof matches)[number]) =>
    operation.split("/").filter((part) => !part.startsWith("{")).length;
  return matches.toSorted((left, right) => words(right) - words(left))[0] ?? null;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
