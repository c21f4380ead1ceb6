import type { DashboardProject } from "@emend/contract";
import { expect, it } from "vitest";
import { draftOf, editOf, type Setting } from "./setting.ts";

const settings: readonly Setting[] = [
  { path: "name", label: "Name", kind: "text" },
  { path: "baseRef", label: "Base", kind: "optional" },
  { path: "settings.limits.wallTimeMsMax", label: "Minutes", kind: "number", scale: 60_000 },
  { path: "settings.policy.allowedPaths", label: "Paths", kind: "lines" },
  { path: "settings.fallbackModels", label: "Others", kind: "optionalLines" },
  { path: "settings.draft", label: "Draft", kind: "check" },
  { path: "settings.forge.squash", label: "Squash", kind: "choice" },
  { path: "settings.checks.ignore", label: "Pattern", kind: "silencers" },
];
const project = {
  name: "Docs",
  baseRef: null,
  settings: {
    limits: { wallTimeMsMax: 90_000 },
    policy: { allowedPaths: ["a/**", "b"] },
    fallbackModels: null,
    draft: false,
    forge: { squash: null },
    checks: { ignore: [{ check: "image-alt", reason: "old" }] },
  },
} as unknown as DashboardProject;

it("shows what is set as it is typed", () => {
  expect(draftOf(project, settings)).toEqual({
    name: "Docs",
    baseRef: "",
    "settings.limits.wallTimeMsMax": "1.5",
    "settings.policy.allowedPaths": "a/**\nb",
    "settings.fallbackModels": "",
    "settings.draft": false,
    "settings.forge.squash": "",
    "settings.checks.ignore": '[{"check":"image-alt","reason":"old"}]',
  });
});

it("sends only what was changed, in the form that is stored", () => {
  const before = draftOf(project, settings);
  expect(editOf(settings, before, before)).toEqual({});
  const now = {
    ...before,
    baseRef: " main ",
    "settings.limits.wallTimeMsMax": "0.1",
    "settings.policy.allowedPaths": " a/** \n\n",
    "settings.fallbackModels": "openai/x",
    "settings.draft": true,
    "settings.forge.squash": "false",
    "settings.checks.ignore": '[{"check":"broken-link","path":" old/** ","message":"","reason":" frozen "}]',
  };
  expect(editOf(settings, before, now)).toEqual({
    baseRef: "main",
    settings: {
      limits: { wallTimeMsMax: 6_000 },
      policy: { allowedPaths: ["a/**"] },
      fallbackModels: ["openai/x"],
      draft: true,
      forge: { squash: false },
      checks: { ignore: [{ check: "broken-link", path: "old/**", reason: "frozen" }] },
    },
  });
  expect(editOf(settings, now, before)).toMatchObject({
    baseRef: null,
    settings: { fallbackModels: null, forge: { squash: null } },
  });
});
