import type { InputOf, Operation, OutputOf } from "@emend/contract";
import type { Sealer } from "../accounts/secrets.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import type { Actor } from "../db/transaction.ts";

/** What handlers need of the installation. */
export interface OperationDeps {
  pool: Pool;
  sealer: Sealer;
  allowPrivateWebhooks: boolean;
}

/** Who calls: a person, a key, or the console. */
export interface Caller {
  actor: Actor;
  /** A key's projects. Null: all. */
  projectIds: ReadonlySet<string> | null;
}

export interface CallerContext extends OperationDeps, Pick<Caller, "projectIds"> {
  /** Writes through it are in the audit log under the caller's name. */
  db: Queryable;
  /** Throws if there is no such project, or if the caller may not know of it. */
  assertProject(id: string): Promise<void>;
}

/** Handlers return times as the database gives them. */
type Timed<T> = T extends string
  ? T | Date
  : T extends readonly (infer One)[]
    ? readonly Timed<One>[]
    : T extends object
      ? { [Key in keyof T]: Timed<T[Key]> }
      : T;

/** One function for each row of a table of operations. */
export type Handlers<Rows extends Readonly<Record<string, Operation>>> = {
  [Name in keyof Rows]: (context: CallerContext, input: InputOf<Rows[Name]>) => Promise<Timed<OutputOf<Rows[Name]>>>;
};
