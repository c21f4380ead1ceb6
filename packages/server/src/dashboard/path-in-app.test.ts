import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { pathInApp } from "./parse-request.ts";

it.each([
  "https://evil.example",
  "//evil.example",
  "/\\evil.example",
  "/app/../../x",
  "/app/%2e%2e/login/x",
  "/app/.%2E/%2e./git",
  "/app/keys/%2e%2e/%2e%2e/git",
  "/app/keys%2f..%2f..%2fgit",
  "/app/keys/..",
  "/app//evil.example",
  "/app/keys\r\nset-cookie: a=b",
  "/app/keys#@evil.example",
  "/app/nothing-of-ours",
  "/application",
  "/APP",
  "/app/login",
  `/app/jobs/${"a".repeat(101)}`,
  "",
  ["/app/keys"],
  undefined,
])("a login that was to end on %j ends on the first page", (to) => {
  expect(pathInApp(to)).toBe("/app");
});

it("keeps a page's own query, and no other", () => {
  expect(pathInApp("/app/settings?tab=members")).toBe("/app/settings?tab=members");
  expect(pathInApp("/app/settings?tab=//evil")).toBe("/app/settings");
});

it("lists every page of the app except those before login", () => {
  const router = readFileSync(new URL("../../../dashboard/src/router.tsx", import.meta.url), "utf8");
  const pages = [...router.matchAll(/\bpath: "\/([^"]*)"/g)].map(([, path = ""]) => path.replace(/\$\w+/g, "prj_A-1"));
  expect(pages.length).toBeGreaterThan(10);
  for (const page of pages.filter((path) => path !== "login" && path !== "welcome")) {
    expect(pathInApp(`/app/${page}`)).toBe(`/app/${page}`);
  }
});
