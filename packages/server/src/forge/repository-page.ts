import { AppError } from "../errors.ts";
import type { Fetch } from "../lib/network.ts";
import { type ApiClient, hasMore } from "./api-client.ts";

/** A repository that a credential reaches, for a person who chooses one. */
export interface ListedRepository {
  /** `owner/name`, as the forge spells it. */
  path: string;
  url: string;
  defaultBranch: string | null;
}

/** One page of the repositories that a credential may push to, without archived ones. */
export interface RepositoryPage {
  repositories: readonly ListedRepository[];
  /** Asks for the next page. Null: this is the last one. */
  next: string | null;
  /** False: a GitHub App that is installed nowhere. */
  isInstalled: boolean;
}

export interface ListInput {
  fetch: Fetch;
  apiUrl: string;
  /** A token, or a GitHub App as JSON. */
  credential: string;
  /** The `next` of the page before. */
  cursor: string | null;
}

/** Every forge numbers its pages. */
export function pageNumber(cursor: string | null): number {
  const number = Number(cursor ?? 1);
  if (Number.isInteger(number) && number >= 0 && number < 10_000) return number;
  throw new AppError("invalid_request", { publicMessage: "That page does not exist." });
}

/** A page as it was answered. A wrong token was never stored, so the words are about what a person typed. */
export function repositoryPage<T>(
  outcome: Awaited<ReturnType<ApiClient["ask"]>>,
  at: { page: number; size: number },
  toRepository: (item: T) => ListedRepository | null,
): RepositoryPage {
  if (outcome.kind !== "ok") {
    throw new AppError("forge_rejected", { publicMessage: "This token is wrong, has expired or was revoked." });
  }
  const items = outcome.value as T[];
  const count = (at.page - 1) * at.size + items.length;
  const isMore = items.length > 0 && hasMore(outcome.headers, count, items.length, at.size);
  const repositories = items.map(toRepository).filter((one) => one !== null);
  return { repositories, next: isMore ? String(at.page + 1) : null, isInstalled: true };
}
