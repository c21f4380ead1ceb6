import { EmendError } from "@emend/sdk";
import { CliError, exitCodes } from "./cli.ts";
import { safeText } from "./terminal/safe-text.ts";

interface Description {
  message: string;
  exitCode: number;
}

/** What is neither of these was refused. */
const exitCodeOf = new Map<string, number>([
  // As typed it can never work, whoever is asked.
  ...["invalid_request", "payload_too_large"].map((code) => [code, exitCodes.usage] as const),
  // Nobody could be asked, or what answered is broken.
  ...["network", "timeout", "unavailable", "invalid_response", "internal"].map(
    (code) => [code, exitCodes.fault] as const,
  ),
  ...["forge_unavailable", "repository_unavailable", "model_unavailable"].map(
    (code) => [code, exitCodes.fault] as const,
  ),
]);

/** What went wrong in one line (of settings, one each), and the exit code that a script can tell it by. */
export function describeError(error: unknown, env: NodeJS.ProcessEnv): Description {
  if (error instanceof CliError) return { message: error.message, exitCode: error.exitCode };
  if (error instanceof EmendError) {
    return { message: oneLine(adviceFor(error, env)), exitCode: exitCodeOf.get(error.kind) ?? exitCodes.refused };
  }
  if (!(error instanceof Error)) return { message: oneLine(String(error)), exitCode: exitCodes.fault };
  if (error.name === "AbortError") return { message: "interrupted", exitCode: exitCodes.interrupted };
  // The server's errors, told by name: importing its classes would load the whole server for every command.
  if (error.name === "ConfigError") {
    return { message: error.message.replaceAll("\n", "\nemend: "), exitCode: exitCodes.usage };
  }
  if (error.name === "AppError") return describeAppError(error);
  return { message: `${oneLine(error.message)} (EMEND_DEBUG=1 shows more)`, exitCode: exitCodes.fault };
}

function describeAppError(error: Error): Description {
  // Not the public message: whoever sits at this console runs the installation and needs the reason.
  return { message: oneLine(error.message), exitCode: exitCodeOf.get(codeOf(error)) ?? exitCodes.refused };
}

function codeOf(error: Error): string {
  // A forge's no to a good request is told by the server as the request's fault, with the forge's answer as its cause.
  const { cause } = error;
  if (cause instanceof Error && "code" in cause && cause.code === "forge_rejected") return cause.code;
  return "code" in error ? String(error.code) : "";
}

function adviceFor(error: EmendError, env: NodeJS.ProcessEnv): string {
  // The library's word for it; whoever types commands never met it.
  const message = error.message.replaceAll("baseUrl", env.EMEND_URL ? "EMEND_URL" : "the server's address");
  switch (error.kind) {
    case "unauthorized": {
      const key = env.EMEND_API_KEY ? "EMEND_API_KEY" : "the key of your login";
      return `${message} (is ${key} right, and not expired or revoked?)`;
    }
    case "forbidden":
      return `${message} (the key is read-only: make one with \`emend key create\`)`;
    case "not_found":
      return `${message} (is the id right, and does the key cover its project?)`;
    case "rate_limited":
      return `${message} (again in ${Math.ceil((error.retryAfterMs ?? 0) / 1000)} s)`;
    case "network":
    case "timeout":
    case "unavailable":
      return `${message} (is the server up? \`emend doctor\` looks)`;
    default:
      return message;
  }
}

/** Fit for a terminal and for a log that reads commands from lines: servers, forges and git have a say in it. */
function oneLine(text: string): string {
  return safeText(text.trim().replaceAll(/\s*[\r\n]+\s*/g, "; "));
}
