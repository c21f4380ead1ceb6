import { AppError, type ErrorCode, isAppError } from "../../errors.ts";
import type { Tree } from "../../tree/tree.ts";
import type { ContextTrees } from "../agent.ts";

/** A path as tools accept it: `@api/src/main.ts` is in the context repository `api`, any other in the project's own. */
export function contextPath(names: readonly string[], path: string): { name: string; path: string } | null {
  const [first = "", ...rest] = path.split("/");
  const name = names.find((known) => `@${known}` === first);
  return name === undefined ? null : { name, path: rest.join("/") };
}

/** Where to read a path. `prefix` turns a path of that tree into one that tools accept. */
export async function locate(
  { overlay, context }: { overlay: Tree; context: ContextTrees },
  path: string,
  signal: AbortSignal,
): Promise<{ tree: Tree; path: string; prefix: string }> {
  const inContext = contextPath(context.names, path);
  if (!inContext) return { tree: overlay, path, prefix: "" };
  return {
    tree: await openContext(context, inContext.name, signal),
    path: inContext.path,
    prefix: `@${inContext.name}/`,
  };
}

/** An unavailable context repository does not fail the job: the model gets the error and may continue without it. */
async function openContext(context: ContextTrees, name: string, signal: AbortSignal): Promise<Tree> {
  try {
    return await context.open(name, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isAppError(error) || !away.has(error.code)) throw error;
    const publicMessage = `the context repository ${name} cannot be read: ${error.publicMessage}`;
    throw new AppError("invalid_request", { publicMessage, cause: error });
  }
}

const away = new Set<ErrorCode>(["repository_unavailable", "forge_unavailable", "forge_rejected"]);

/** Why a path cannot be written. Null if it is in the project's own repository. */
export function refuseContextPath(names: readonly string[], path: string): string | null {
  const inContext = contextPath(names, path.replace(/^\/+/, ""));
  return inContext && `the context repository ${inContext.name} is there to read; nothing in it can be changed`;
}
