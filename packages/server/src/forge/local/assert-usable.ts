import { AppError } from "../../errors.ts";

/**
 * The local forge is a folder. Processes that share a database may run on different machines with their own data
 * directories, so the folder must be declared as shared. With the embedded database there is only one machine.
 */
export function assertLocalForgeUsable(place: {
  /** EMEND_DATABASE_URL. */
  databaseUrl: string | null;
  /** EMEND_FORGE_DIR. */
  forgeDir: string | null;
  dataDir: string;
}): void {
  if (place.databaseUrl === null || place.forgeDir !== null) return;
  throw new AppError("invalid_request", {
    publicMessage:
      `The local forge keeps its repositories in ${place.dataDir} on this machine, and EMEND_DATABASE_URL may be shared ` +
      "with processes elsewhere: set EMEND_FORGE_DIR to a folder that all of them see (on one machine any folder will do).",
  });
}
