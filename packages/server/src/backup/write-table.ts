import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import pg from "pg";
import type { Client } from "../db/pool.ts";
import type { Table } from "./list-tables.ts";
import { patient } from "./patient.ts";

const rowsAtOnce = 50;

/** Streams a table, through a cursor of the transaction's own snapshot, into a gzipped file of JSON lines. */
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
