import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import pg from "pg";
import type { Client } from "../db/pool.ts";
import type { ArchivedTable } from "./archive.ts";
import { patient } from "./patient.ts";
import { lineBytesMax, readLines } from "./read-lines.ts";

const batchBytesMax = 4_000_000;
const batchRowsMax = 500;

/** Fills a table from its file. Columns that came later than the archive get their defaults. */
export async function readTable(
  client: Client,
  table: ArchivedTable,
  options: { path: string; signal: AbortSignal },
): Promise<number> {
  const name = pg.escapeIdentifier(table.name);
  const columns = table.columns.map(pg.escapeIdentifier).join(", ");
  const insert = `insert into ${name} (${columns}) select ${columns} from json_populate_recordset(null::${name}, $1::json)`;
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
  return count;
}
