import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { expect, test } from "vitest";
import { createLateReads } from "./late-reads.ts";
import { createPool } from "./pool.ts";

const log = createLogger({ level: "silent" });

test("the replica answers, and the primary while it is away or lacks a table", async () => {
  const [primary, other] = [await createTestDatabase(), await createTestDatabase()];
  const proxy = await startDatabaseProxy(other.url);
  const replica = createPool({ url: proxy.url, connectionsMax: 2, log });
  try {
    await primary.pool.query(
      "create table place as select 'primary' as name; create table added as select 1 as number",
    );
    await other.pool.query("create table place as select 'replica' as name");
    const open = () => createLateReads({ replica, primary: primary.pool, log });
    const where = async (reads: ReturnType<typeof open>) => (await reads.query("select name from place")).rows[0].name;

    expect(await where(open())).toBe("replica");
    await expect(open().query("select * form place")).rejects.toThrow(/syntax/);
    const behind = open();
    expect((await behind.query("select number from added")).rows).toEqual([{ number: 1 }]);
    expect(await where(behind)).toBe("primary");
    const away = open();
    await proxy.close();
    expect(await where(away)).toBe("primary");
  } finally {
    await replica.end();
    await Promise.all([primary.drop(), other.drop()]);
  }
});
