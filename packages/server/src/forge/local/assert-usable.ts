import { AppError } from "../../errors.ts";

/**
 * The local forge is a folder. Processes that split the roles may stand on different machines, each with a data
 * directory of its own, so the folder must have been declared as one that all of them see.
 */
export function assertLocalForgeUsable(place: {
  role: "all" | "api" | "worker";
  /** EMEND_FORGE_DIR. */
  forgeDir: string | null;
  dataDir: string;
}): void {
  if (place.role === "all" || place.forgeDir !== null) return;
  throw new AppError("invalid_request", {
    publicMessage:
      `The local forge keeps its repositories in ${place.dataDir} on this machine, and role ${place.role} shares the ` +
      "work with other processes: set EMEND_FORGE_DIR to a folder that all of them see, or use role all.",
  });
}
