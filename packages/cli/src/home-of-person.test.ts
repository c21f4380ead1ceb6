import { expect, test } from "vitest";
import { homeOfPerson } from "./home-of-person.ts";

const npm = { npm_package_name: "emend-workspace", npm_lifecycle_event: "demo", INIT_CWD: "/home/ada/docs" };

test("paths mean the folder where the person typed the npm script", () => {
  expect(homeOfPerson(npm, "/opt/emend")).toBe("/home/ada/docs");
});

test("below another npm script, or without npm, paths mean the current folder", () => {
  expect(homeOfPerson({}, "/here")).toBe("/here");
  expect(homeOfPerson({ ...npm, npm_lifecycle_event: "test" }, "/here")).toBe("/here");
  expect(homeOfPerson({ ...npm, npm_package_name: "their-app" }, "/here")).toBe("/here");
});
