import { hash } from "node:crypto";
import { AppError } from "../../errors.ts";

export type ObjectFormat = "sha1" | "sha256";

export function isObjectId(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Ids go into command lines, so anything else is refused. */
export function checkObjectIds(...ids: readonly string[]): void {
  if (ids.every(isObjectId)) return;
  throw new AppError("internal", { publicMessage: "A commit id is not a valid object id." });
}

export function objectFormatOf(id: string): ObjectFormat {
  return id.length === 64 ? "sha256" : "sha1";
}

/** Git's id for these bytes. */
export function blobId(content: Buffer, format: ObjectFormat): string {
  return hash(format, Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]), "hex");
}
