import { EmendError } from "@emend/sdk";
import { CliError, exitCodes } from "./cli.ts";

interface Description {
  message: string;
  exitCode: number;
}

const faults: ReadonlySet<EmendError["kind"]> = new Set(["network", "timeout", "unavailable", "invalid_response"]);

/** What went wrong in one line, and the exit code that a script can tell it by. */
export function describeError(error: unknown): Description {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof EmendError) {
    return {
      message: oneLine(adviceFor(error)),
      exitCode: faults.has(error.kind) ? exitCodes.fault : exitCodes.refused,
    };
  }
  if (!(error instanceof Error)) return { message: oneLine(String(error)), exitCode: exitCodes.fault };
  if (error.name === "AbortError") return { message: "interrupted", exitCode: exitCodes.interrupted };
  // The server's errors, told by name: importing its classes would load the whole server for every command.
  if (error.name === "ConfigError") return { message: error.message, exitCode: exitCodes.usage };
  if (error.name === "AppError") return describeAppError(error);
  return { message: `${oneLine(error.message)} (EMEND_DEBUG=1 shows more)`, exitCode: exitCodes.fault };
}

function describeAppError(error: Error): Description {
  const code = "code" in error ? error.code : undefined;
  const isFault = code === "internal" || code === "unavailable";
  // Not the public message: whoever sits at this console runs the installation and needs the reason.
  return { message: oneLine(error.message), exitCode: isFault ? exitCodes.fault : exitCodes.refused };
}

function adviceFor(error: EmendError): string {
  switch (error.kind) {
    case "unauthorized":
      return `${error.message} (is EMEND_API_KEY right, and not expired or revoked?)`;
    case "forbidden":
      return `${error.message} (the key is read-only: make one with \`emend key create\`)`;
    case "not_found":
      return `${error.message} (is the id right, and does the key cover its project?)`;
    case "rate_limited":
      return `${error.message} (again in ${Math.ceil((error.retryAfterMs ?? 0) / 1000)} s)`;
    case "network":
    case "timeout":
    case "unavailable":
      return `${error.message} (is the server up? \`emend doctor\` looks)`;
    default:
      return error.message;
  }
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, "; ");
}
