import { expect, test } from "vitest";
import { runAs, shellWord } from "./run-as.ts";

test("names commands the way that the person typed this one", () => {
  expect(runAs({}, "serve --port 1")).toBe("emend serve --port 1");
  const npm = { npm_package_name: "emend-workspace", npm_lifecycle_event: "demo" };
  expect(runAs(npm, "serve --port 1")).toBe("npm start -- --port 1");
  expect(runAs(npm, "key list")).toBe("npm run emend -- key list");
});

test("quotes what a shell would take apart", () => {
  expect(shellWord("/tmp/demo-1")).toBe("/tmp/demo-1");
  expect(shellWord("/my docs/it's")).toBe(`'/my docs/it'\\''s'`);
});
