import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cacheDir, homeOfPerson } from "./user-folders.ts";

describe("cache dir", () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "emend-home-"));
  });
  afterEach(() => rm(home, { recursive: true }));

  test("lies in the person's cache", () => {
    expect(cacheDir({ HOME: home }).startsWith(home)).toBe(true);
    expect(cacheDir({ HOME: "/", XDG_CACHE_HOME: home })).toBe(join(home, "emend"));
  });

  test("falls back to a temporary folder where the home cannot be written", async () => {
    const file = join(home, "file");
    await writeFile(file, "");
    expect(cacheDir({ HOME: file, TMPDIR: join(home, "tmp") })).toContain(join(home, "tmp"));
  });
});

const npm = { npm_package_name: "emend-workspace", npm_lifecycle_event: "demo", INIT_CWD: "/home/ada/docs" };

test("paths mean the folder where the person typed the npm script", () => {
  expect(homeOfPerson(npm, "/opt/emend")).toBe("/home/ada/docs");
});

test("below another npm script, or without npm, paths mean the current folder", () => {
  expect(homeOfPerson({}, "/here")).toBe("/here");
  expect(homeOfPerson({ ...npm, npm_lifecycle_event: "test" }, "/here")).toBe("/here");
  expect(homeOfPerson({ ...npm, npm_package_name: "their-app" }, "/here")).toBe("/here");
});
