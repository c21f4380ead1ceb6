import { ConfigError } from "../config/config-error.ts";

/** Which setting makes listening impossible, in words; any other error, and a port that is taken, as it is. */
export function describeListenError(
  error: unknown,
  at: { host: string; port: number | null; variable: "EMEND_PORT" | "EMEND_METRICS_PORT" },
): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRNOTAVAIL":
      return new ConfigError([`EMEND_HOST must be an address of this machine, which "${at.host}" is not`]);
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return new ConfigError([`EMEND_HOST must be an address or a name of this machine; "${at.host}" is unknown`]);
    case "EACCES":
      return new ConfigError([`${at.variable} must be a port that this user may listen on, which ${at.port} is not`]);
    case "EADDRINUSE":
      return at.variable === "EMEND_METRICS_PORT"
        ? new ConfigError([`EMEND_METRICS_PORT must be a free port, and ${at.port} is in use`])
        : error;
    default:
      return error;
  }
}
