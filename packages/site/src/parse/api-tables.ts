const tableName = /<APITable\b[^>]*?(?:\bname="([^"]*)")?[^>]*>/g;
const firstCell = /^[ \t]*\|[ \t]*`([^`|\n]+)`/gm;

/** Docusaurus's API tables make each row an anchor: by its first cell, below the table's name if it has one. */
export function apiTableIds(text: string): string[] {
  const ids: string[] = [];
  const tables = [...text.matchAll(tableName)];
  for (const [i, table] of tables.entries()) {
    const rows = text.slice(table.index, tables[i + 1]?.index ?? text.length);
    for (const row of rows.matchAll(firstCell)) {
      ids.push(table[1] === undefined ? (row[1] as string) : `${table[1]}.${row[1]}`);
    }
  }
  return ids;
}
