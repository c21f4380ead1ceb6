import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { takePlace } from "./run-demo.ts";

let parent: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "emend-place-"));
});
afterEach(() => rm(parent, { recursive: true }));

test("gives the same place again once it is released, and another while it is taken", async () => {
  const first = await takePlace(parent);
  const second = await takePlace(parent);
  expect(second.dataDir).not.toBe(first.dataDir);
  expect(second.port).not.toBe(first.port);

  first.release();
  const third = await takePlace(parent);
  expect(third).toMatchObject({ dataDir: first.dataDir, port: first.port });
  second.release();
  third.release();
});

test("passes over a place whose port another program uses", async () => {
  const wished = await takePlace(parent);
  wished.release();
  const occupant = createServer().listen(wished.port, "127.0.0.1");
  await once(occupant, "listening");

  const place = await takePlace(parent);

  expect(place.dataDir).not.toBe(wished.dataDir);
  place.release();
  occupant.close();
});

test("keeps to a port that a person chose", async () => {
  const place = await takePlace(parent, 4321);
  expect(place).toMatchObject({ dataDir: join(parent, "demo"), port: 4321 });
  place.release();
});
