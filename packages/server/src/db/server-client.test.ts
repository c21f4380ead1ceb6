// Costly: servers are stopped and replaced under a client.
import { createLogger } from "@emend/base/logger.ts";
import { startThrowAwayServer, type ThrowAwayServer } from "@emend/testkit/throw-away-server.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startListener } from "./listener.ts";
import { createPool } from "./pool.ts";
import { readServers, ServerClient } from "./server-client.ts";

describe("a URL of several servers", () => {
  test.each([
    ["postgres://a@h:1/d", ["postgres://a@h:1/d"], "any"],
    ["postgresql://a:b@h:1,i:2/d?x=1", ["postgresql://a:b@h:1/d?x=1", "postgresql://a:b@i:2/d?x=1"], "primary"],
    [
      "postgres://h,i?target_session_attrs=any",
      ["postgres://h?target_session_attrs=any", "postgres://i?target_session_attrs=any"],
      "any",
    ],
    ["postgres://h/d?target_session_attrs=read-only", ["postgres://h/d?target_session_attrs=read-only"], "read-only"],
  ])("%s", (url, urls, wants) => expect(readServers(url)).toEqual({ urls, wants }));

  test.each(["mysql://h", "h,i", "postgres://h:x,i/d", "postgres://h/d?target_session_attrs=toString"])(
    "%s is none",
    (url) => expect(readServers(url)).toBeNull(),
  );
});

describe("of a primary and a standby", () => {
  let servers: ThrowAwayServer[] = [];
  let url = "";
  const log = createLogger({ level: "silent" });
  const gone = "127.0.0.1:1";
  beforeAll(async () => {
    servers = await Promise.all([startThrowAwayServer({ isStandby: true }), startThrowAwayServer()]);
    const hosts = servers.map((server) => /@([^/]+)\//.exec(server.url)?.[1]);
    url = servers[0]?.url.replace(/@[^/]+/, `@${[gone, ...hosts].join(",")}`) ?? "";
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  async function isStandby(at: string): Promise<boolean> {
    const pool = createPool({ url: at, connectionsMax: 2, log });
    try {
      return (await pool.query("select pg_is_in_recovery() as answer")).rows[0]?.answer;
    } finally {
      await pool.end();
    }
  }

  test("a pool finds the one that its URL wants, past one that is away", async () => {
    expect(await isStandby(url)).toBe(false);
    expect(await isStandby(`${url}?target_session_attrs=read-write`)).toBe(false);
    expect(await isStandby(`${url}?target_session_attrs=standby`)).toBe(true);
  });

  test("a client that got the wrong one says so, and the next one has its turn", async () => {
    const only = `${servers[0]?.url}?target_session_attrs=primary`;
    await expect(new ServerClient({ connectionString: only }).connect()).rejects.toThrow(
      /is a standby, and its URL asks for "primary"/,
    );
  });

  test("after a switch the pool and the listener follow the new primary", async () => {
    const pool = createPool({ url, connectionsMax: 2, log });
    const listener = await startListener({ url, log });
    try {
      await pool.query("select 1");
      await servers[1]?.stop();
      const promoted = createPool({ url: servers[0]?.url ?? "", connectionsMax: 1, log });
      await promoted.query("select pg_promote()");
      await promoted.end();
      await expect
        .poll(() => pool.query("select pg_is_in_recovery() as answer").then(({ rows }) => rows[0]?.answer, String))
        .toBe(false);
      await expect.poll(() => listener.isFresh()).toBe(true);
    } finally {
      await listener.close();
      await pool.end();
    }
  });
});
