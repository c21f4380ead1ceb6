import { hash } from "node:crypto";
import type { JobStatus } from "@emend/contract";
import { isJobId } from "./job-id.ts";

interface Listing {
  projectId: string;
  status: JobStatus | null;
}

/**
 * A place in one listing. It can do no harm in other hands, since it only says where in the key's own project to go on;
 * the check part refuses one that was altered, cut off, or taken from another listing, instead of guessing.
 */
export function toCursor(listing: Listing, lastId: string): string {
  return Buffer.from(`${lastId}.${checkOf(listing, lastId)}`).toString("base64url");
}

/** The id after which the page begins, or null where the text is no cursor of this listing. */
export function fromCursor(listing: Listing, cursor: string): string | null {
  const [lastId = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(".");
  return isJobId(lastId) && toCursor(listing, lastId) === cursor ? lastId : null;
}

function checkOf(listing: Listing, lastId: string): string {
  return hash("sha256", JSON.stringify(["jobs", listing.projectId, listing.status, lastId]), "base64url").slice(0, 12);
}
