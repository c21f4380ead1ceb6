import type { Fetch } from "../../lib/network.ts";
import { type ApiClient, createApiClient } from "../api-client.ts";
import type { Polling } from "../polling.ts";

const headers = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/** A client for GitHub's API, pinned to one API version. */
export function createGithubClient(input: {
  fetch: Fetch;
  apiUrl: string;
  authorization(signal: AbortSignal): Promise<string | null>;
  polling?: Polling;
}): ApiClient {
  return createApiClient({ ...input, forge: "GitHub", headers, isUnmodifiedFree: true });
}
