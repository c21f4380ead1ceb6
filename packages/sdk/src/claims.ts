import type { AddClaimBody, Claim, ClaimList, ClaimState } from "@emend/contract";
import type { CallOptions, Connection } from "./connection.ts";
import { projectPath, segment } from "./jobs.ts";
import { parseBody, request } from "./request.ts";

/** What a project's pages rely on. */
export interface Claims {
  /** Every claim, by page and line, page after page: `for await (const claim of claims.list())`. */
  list(options?: ClaimListOptions): AsyncGenerator<Claim, void, undefined>;
  /** One page, and the cursor of the next. */
  listPage(options?: ClaimListOptions & { cursor?: string }): Promise<ClaimList>;
  /** Binds lines of a page to lines of code: `{ page: "docs/timeouts.md:12", source: "@api/src/net.ts:4" }`. */
  add(input: AddClaimBody, options?: CallOptions): Promise<Claim>;
  /** Says that the page is right about the changed lines. */
  confirm(id: string, options?: CallOptions): Promise<Claim>;
  /** Removes a claim, and gives it as it was. */
  remove(id: string, options?: CallOptions): Promise<Claim>;
}

export interface ClaimListOptions extends CallOptions {
  /** Only claims of this page: its path in the repository. */
  page?: string;
  state?: ClaimState;
  /** Claims a page, 1,000 at most. */
  limit?: number;
}

export function claimsOf(of: (options: CallOptions) => Connection, projectId: string): Claims {
  const path = () => `${projectPath(projectId)}/claims`;
  const one = (id: string) => `${path()}/${segment("id", id, "a claim's id, clm_…")}`;

  async function listPage(options: ClaimListOptions & { cursor?: string } = {}): Promise<ClaimList> {
    const { page, state, limit, cursor, signal } = options;
    const given = Object.entries({ page, state, limit: limit?.toString(), cursor }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const query = new URLSearchParams(given).toString();
    const deps = of(options);
    const response = await request(deps, { method: "GET", path: `${path()}${query && `?${query}`}` }, signal);
    return parseBody(deps, response, { name: "list of claims", is: isList });
  }

  async function send(method: "POST" | "DELETE", at: string, options: CallOptions, body?: object): Promise<Claim> {
    const deps = of(options);
    const response = await request(deps, { method, path: at, ...(body && { body }) }, options.signal);
    return parseBody(deps, response, { name: "claim", is: isClaim });
  }

  return {
    listPage,
    async *list(options = {}) {
      let cursor: string | undefined;
      do {
        const page = await listPage({ ...options, ...(cursor === undefined ? {} : { cursor }) });
        yield* page.claims;
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
    },
    add: (input, options = {}) => send("POST", path(), options, input),
    confirm: (id, options = {}) => send("POST", `${one(id)}/confirm`, options),
    remove: (id, options = {}) => send("DELETE", one(id), options),
  };
}

function isClaim(body: object): body is Claim {
  return "id" in body && typeof body.id === "string" && "state" in body && "page" in body && "source" in body;
}

function isList(body: object): body is ClaimList {
  return "claims" in body && Array.isArray(body.claims) && "nextCursor" in body;
}
