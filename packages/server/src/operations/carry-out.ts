import { describeMistake } from "@emend/base/describe-mistake.ts";
import { type Operation, type OperationName, operations } from "@emend/contract";
import { Compile } from "typebox/compile";
import { Clean } from "typebox/value";
import { asActor } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import type { Caller, CallerContext, Handlers, OperationDeps } from "./handler.ts";
import { webhookHandlers } from "./webhooks.ts";

const handlers: Handlers<typeof operations> = { ...webhookHandlers };
const checkers = new Map<string, ReturnType<typeof Compile>>();

/** Carries an operation out, and returns its answer as JSON. The caller's right to it was checked before. */
export async function carryOut(
  deps: OperationDeps,
  caller: Caller,
  name: OperationName,
  input: unknown,
): Promise<string> {
  const context: CallerContext = {
    ...deps,
    projectIds: caller.projectIds,
    db: asActor(deps.pool, caller.actor),
    async assertProject(id) {
      const isCovered = caller.projectIds?.has(id) ?? true;
      const { rowCount } = isCovered
        ? await deps.pool.query("select from projects where id = $1", [id])
        : { rowCount: 0 };
      if (rowCount === 0) throw new AppError("not_found", { publicMessage: "Project not found." });
    },
  };
  const handle = handlers[name] as (context: CallerContext, input: unknown) => Promise<unknown>;
  return JSON.stringify(await handle(context, parseInput(name, input)));
}

/** Unknown fields are removed. An id that no database row can have is not found. */
function parseInput(name: OperationName, input: unknown): unknown {
  const row: Operation = operations[name];
  const checker = checkers.get(name) ?? Compile(row.input);
  checkers.set(name, checker);
  if (checker.Check(input)) return Clean(row.input, input);
  const [error] = checker.Errors(input);
  if (error && /^\/(?:id|projectId)$/.test(error.instancePath))
    throw new AppError("not_found", { publicMessage: `${row.tag.replace(/s$/, "")} not found.` });
  const mistake = error ? `${describeMistake(error, [])}.` : "The input is not valid.";
  throw new AppError("invalid_request", { publicMessage: mistake.replace(/^The input/, "The body") });
}
