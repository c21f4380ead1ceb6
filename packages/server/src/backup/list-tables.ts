import type { Queryable } from "../db/pool.ts";

export interface Table {
  name: string;
  columns: readonly string[];
}

/** Ours, each after those that it refers to. What migrations were seen is the database's own matter. */
export async function listTables(db: Queryable): Promise<readonly Table[]> {
  const { rows } = await db.query<Table & { refersTo: string[] }>(`
    select relname as name,
      (select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select coalesce(array_agg(distinct confrelid::regclass::text), '{}') from pg_constraint
        where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid) as "refersTo"
    from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname <> 'migrations'
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
