import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import pg from "pg";
import type { Client } from "../db/pool.ts";
import type { ArchivedTable } from "./archive.ts";
import { patient } from "./patient.ts";

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

  const file = createReadStream(options.path, { signal: options.signal });
  for await (const line of createInterface({ input: file.pipe(createGunzip()), crlfDelay: Number.POSITIVE_INFINITY })) {
    batch.push(line);
    batchBytes += line.length;
    if (batch.length >= batchRowsMax || batchBytes >= batchBytesMax) await flush();
  }
  await flush();
  return count;
}
