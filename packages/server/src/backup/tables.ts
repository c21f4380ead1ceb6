import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import pg from "pg";
import type { Client, Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import type { ArchivedTable } from "./manifest.ts";

interface Table {
  name: string;
  columns: readonly string[];
}

/** Our tables, each after those that it references. Migrations and processes are left out. */
export async function listTables(db: Queryable): Promise<readonly Table[]> {
  const { rows } = await db.query<Table & { refersTo: string[] }>(`
    select relname as name,
      (select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(array_agg(distinct confrelid::regclass::text), '{}') from pg_constraint
        where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid) as "refersTo"
    from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname not in ('migrations', 'nodes', 'lost_workers')
    order by relname`);
  const sorted: Table[] = [];
  for (let left = rows; left.length > 0; ) {
    const done = new Set(sorted.map(({ name }) => name));
    const ready = left.filter(({ refersTo }) => refersTo.every((name) => done.has(name)));
    if (ready.length === 0) throw new Error(`tables refer to each other: ${left.map(({ name }) => name).join(", ")}`);
    sorted.push(...ready.map(({ name, columns }) => ({ name, columns })));
    left = left.filter((table) => !ready.includes(table));
  }
  return sorted;
}

const batchBytesMax = 4_000_000;
const batchRowsMax = 500;

/** Fills a table from its file. Columns that are newer than the archive get their defaults. */
export async function readTable(
  client: Client,
  table: ArchivedTable,
  options: { path: string; signal: AbortSignal },
): Promise<number> {
  const name = pg.escapeIdentifier(table.name);
  const columns = table.columns.map(pg.escapeIdentifier).join(", ");
  // Also for columns that the database numbers.
  const insert = `insert into ${name} (${columns}) overriding system value select ${columns} from json_populate_recordset(null::${name}, $1::json)`;
  let count = 0;
  let batch: string[] = [];
  let batchBytes = 0;

  async function flush(): Promise<void> {
    if (batch.length === 0) return;
    await client.query(patient(insert, [`[${batch.join(",")}]`]));
    count += batch.length;
    batch = [];
    batchBytes = 0;
  }

  async function fill(chunks: AsyncIterable<Buffer>): Promise<void> {
    for await (const line of readLines(chunks, { file: table.file, lineBytesMax })) {
      batch.push(line);
      batchBytes += line.length;
      if (batch.length >= batchRowsMax || batchBytes >= batchBytesMax) await flush();
    }
    await flush();
  }

  await pipeline(createReadStream(options.path), createGunzip(), fill, { signal: options.signal });
  await countOn(client, table);
  return count;
}

/** Columns that the database numbers continue after the archive's last number. */
async function countOn(client: Client, { name }: ArchivedTable): Promise<void> {
  const { rows } = await client.query<{ column: string }>(
    "select attname as column from pg_attribute where attrelid = to_regclass(quote_ident($1)) and attidentity <> ''",
    [name],
  );
  for (const { column } of rows) {
    const of = pg.escapeIdentifier;
    await client.query(
      `select setval(pg_get_serial_sequence(quote_ident($1), $2), greatest(max(${of(column)}), 1)) from ${of(name)}`,
      [name, column],
    );
  }
}

const rowsAtOnce = 50;

/** Streams a table through a cursor, in the transaction's snapshot, into a gzipped file of JSON lines. */
export async function writeTable(
  client: Client,
  table: Table,
  options: { path: string; signal: AbortSignal },
): Promise<number> {
  let count = 0;
  async function* lines(): AsyncGenerator<string> {
    const columns = table.columns.map(pg.escapeIdentifier).join(", ");
    const source = `select ${columns} from ${pg.escapeIdentifier(table.name)}`;
    await client.query(`declare rows no scroll cursor for select row_to_json(r)::text as line from (${source}) r`);
    for (;;) {
      const { rows } = await client.query<{ line: string }>(patient(`fetch ${rowsAtOnce} from rows`));
      count += rows.length;
      if (rows.length === 0) break;
      yield `${rows.map(({ line }) => line).join("\n")}\n`;
    }
    await client.query("close rows");
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(options.path, { flags: "wx", mode: 0o600 }), {
    signal: options.signal,
  });
  return count;
}

/** More than any row takes, and less than JavaScript's longest string. */
const lineBytesMax = 256 * 1024 * 1024;

/** Splits only at line feeds: JSON strings may contain other line separators. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  options: { file: string; lineBytesMax: number },
): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString("utf8");
      [parts, bytes, from] = [[], 0, end + 1];
    }
    parts.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > options.lineBytesMax) {
      throw new AppError("invalid_request", {
        publicMessage: `${options.file} holds a row of more than ${options.lineBytesMax} bytes: it is not a table of Emend`,
      });
    }
  }
  if (bytes > 0) yield Buffer.concat(parts).toString("utf8");
}

/** Whole tables take longer than the pool's query timeout. */
function patient(text: string, values: unknown[] = []): { text: string; values: unknown[]; query_timeout: number } {
  return { text, values, query_timeout: 3_600_000 };
}
