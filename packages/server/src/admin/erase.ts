import pg from "pg";
import { removeMemberRows } from "../accounts/people/members.ts";
import { removeProjectRows } from "../dashboard/project-admin.ts";
import { channels } from "../db/listener.ts";
import type { Client, Pool } from "../db/pool.ts";
import { type Actor, inTransactionAs } from "../db/transaction.ts";
import { AppError } from "../errors.ts";

export interface Erasure {
  /** Rows that were deleted or changed, by table. */
  rows: Readonly<Record<string, number>>;
}

/** Receives each row that an erasure will delete, as JSON, before it deletes anything. */
export type KeepRow = (table: string, row: string) => Promise<void> | void;

interface Column {
  table: string;
  column: string;
  type: string;
}

/**
 * Columns are found in the database's own catalog: a table that a later release adds is not forgotten. What a restore
 * needs is left out, as are generated columns, which follow the others.
 */
async function columnsOf(client: Client, types: readonly string[]): Promise<readonly Column[]> {
  const { rows } = await client.query<Column>(
    `select relname::text as table, attname::text as column, atttypid::regtype::text as type
     from pg_attribute join pg_class on pg_class.oid = attrelid
     where relkind in ('r', 'p') and not relispartition and relnamespace = current_schema()::regnamespace
       and relname <> 'migrations' and attnum > 0 and not attisdropped and attgenerated = ''
       and atttypid::regtype::text = any ($1)
     order by relname, attnum`,
    [types],
  );
  return rows;
}

const name = pg.escapeIdentifier;

/** Deletes a project and everything that names it. Its repository on a forge stays. */
export async function eraseProject(
  pool: Pool,
  project: { id: string; name: string },
  by: Actor,
  keep?: KeepRow,
): Promise<Erasure> {
  return inErasure(pool, by, "project.erased", async (client, count) => {
    const columns = await columnsOf(client, ["text"]);
    const ofProject = columns.filter(({ column }) => column === "project_id").map(({ table }) => table);
    const ids = [project.id];
    for (const table of ofProject) {
      if (!columns.some((column) => column.table === table && column.column === "id")) continue;
      const { rows } = await client.query(`select id from ${name(table)} where project_id = $1`, [project.id]);
      ids.push(...rows.map((row) => row.id));
    }
    await lookThrough(client, columns, ids, { count, keep });
    await removeProjectRows(client, project);
    for (const table of ofProject) await client.query(`delete from ${name(table)} where project_id = $1`, [project.id]);
    const keys = "update admin_keys set project_ids = array_remove(project_ids, $1) where $1 = any (project_ids)";
    count("admin_keys", await client.query(keys, [project.id]));
    await forgetIds(client, count, ids);
  });
}

/** Deletes a job that has ended, and everything that names it. Its pull request stays on the forge. */
export async function eraseJob(pool: Pool, jobId: string, by: Actor, keep?: KeepRow): Promise<Erasure> {
  return inErasure(pool, by, "job.erased", async (client, count) => {
    const { rows } = await client.query<{ status: string }>("select status from jobs where id = $1 for update", [
      jobId,
    ]);
    if (!rows[0]) throw new AppError("not_found", { publicMessage: "Job not found." });
    if (rows[0].status === "active") {
      throw new AppError("conflict", { publicMessage: "The job is running. Wait for it or cancel it first." });
    }
    await lookThrough(client, await columnsOf(client, ["text"]), [jobId], { count, keep });
    await client.query("delete from jobs where id = $1", [jobId]);
    await client.query("select pg_notify($1, $2)", [channels.jobChanged, jobId]);
    await forgetIds(client, count, [jobId]);
  });
}

interface Person {
  /** Null: no member, or no longer. */
  id: string | null;
  email: string;
}

/** A member, or somebody who was removed or whom the directory knows. */
export async function findPerson(pool: Pool, email: string): Promise<Person | null> {
  const { rows } = await pool.query<Person>(
    `select id, email from users where lower(email) = lower($1)
     union all select null, lower($1) where exists (select from removed_members where lower(email) = lower($1))
       or exists (select from directory_users where lower(email) = lower($1))
     limit 1`,
    [email],
  );
  return rows[0] ?? null;
}

/**
 * Deletes a person's account, and replaces their address, their ids and their linked accounts of chats wherever a row names
 * them. Jobs, messages and comments of theirs stay, without a name. Pages and commits of repositories are not looked into.
 */
export async function erasePerson(pool: Pool, person: Person, by: Actor): Promise<Erasure> {
  return inErasure(pool, by, "member.erased", async (client, count) => {
    // Read first: they go with the account.
    const linked = "select account from chat_accounts where user_id = $1";
    const { rows: accounts } = await client.query<{ account: string }>(linked, [person.id]);
    const { rows: earlier } = await client.query<{ id: string }>(
      `select distinct target as id from audit_log
       where action = 'member.removed' and lower(details ->> 'email') = lower($1) and target is not null`,
      [person.email],
    );
    // With their name: written over, two who were erased would have the same address.
    const inDirectory = "delete from directory_users where user_id = $1 or lower(email) = lower($2)";
    count("directory_users", await client.query(inDirectory, [person.id, person.email]));
    if (person.id !== null) {
      await removeMemberRows(client, person.id, by);
      count("users", { rowCount: 1 });
    }
    const address = "delete from removed_members where lower(email) = lower($1)";
    count("removed_members", await client.query(address, [person.email]));
    await client.query("select set_config('emend.audit', 'off', true)");
    await client.query("update audit_log set address = null where lower(actor) = lower($1)", [person.email]);
    const named = [person.email, person.id, ...earlier.map(({ id }) => id)].filter((text) => text !== null);
    const names = named.map((text) => text.replaceAll(/[^\w@]/g, "\\$&"));
    // Letters and digits, as whole words: a chat's other accounts may begin alike. JSON has \n before the first of a line.
    const inChats = accounts.map(({ account }) => `(?:\\m|(?<=\\\\[nrt]))${account}\\M`);
    const pattern = [...names, ...inChats].join("|");
    for (const { table, column, type } of await columnsOf(client, ["text", "jsonb", "json"])) {
      const replaced = `regexp_replace(${name(column)}::text, $1, 'erased', 'gi')::${type}`;
      const changed = await client.query(
        `update ${name(table)} set ${name(column)} = ${replaced} where ${name(column)}::text ~* $1`,
        [pattern],
      );
      count(table, changed);
    }
    await client.query("select set_config('emend.audit', '', true)");
  });
}

type Count = (table: string, changed: { rowCount: number | null }) => void;

async function inErasure(
  pool: Pool,
  by: Actor,
  action: string,
  work: (client: Client, count: Count) => Promise<void>,
): Promise<Erasure> {
  return inTransactionAs(pool, by, async (client) => {
    const rows: Record<string, number> = {};
    await work(client, (table, { rowCount }) => {
      if (rowCount) rows[table] = (rows[table] ?? 0) + rowCount;
    });
    await client.query("select audit($1, null, $2)", [action, { rows }]);
    return { rows };
  });
}

/** Tasks and the audit log name what they are about in texts. */
async function forgetIds(client: Client, count: Count, ids: readonly string[]): Promise<void> {
  // An id is random, so a text that contains it is about it.
  const named = (columns: string) =>
    `where exists (select from unnest($1::text[]) id where ${columns} like '%' || id || '%')`;
  count("tasks", await client.query(`delete from tasks ${named("subject")}`, [ids]));
  const log = "concat(target, ' ', details::text)";
  count("audit_log", await client.query(`delete from audit_log ${named(log)}`, [ids]));
}

/** Counts the rows of projects and jobs before they are deleted, some by others. */
async function lookThrough(
  client: Client,
  columns: readonly Column[],
  ids: readonly string[],
  { count, keep }: { count: Count; keep: KeepRow | undefined },
): Promise<void> {
  const own = columns.filter(({ table, column }) => column === "id" && ["projects", "jobs"].includes(table));
  const owners = columns.filter(({ column }) => ["project_id", "job_id"].includes(column));
  const seen = new Set<string>();
  for (const { table, column } of [...own, ...owners]) {
    if (seen.has(table)) continue;
    seen.add(table);
    const from = `from ${name(table)} kept where ${name(column)} = any ($1)`;
    const found = await client.query<{ row: string }>(
      `select ${keep ? "row_to_json(kept)::text" : "''"} as row ${from}`,
      [ids],
    );
    count(table, found);
    for (const { row } of keep ? found.rows : []) await keep?.(table, row);
  }
}
