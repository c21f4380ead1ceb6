import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { plainNarrator } from "../terminal/narrator.ts";
import { showWayBack } from "./run-demo.ts";

const link = "http://127.0.0.1:4610/login/once";

test.each([true, false])("says beside its link that the dashboard is not built (server stays up: %s)", (staysUp) => {
  const shown = (isDashboardBuilt: boolean) => {
    const stream = new PassThrough();
    const way = {
      link,
      page: "http://127.0.0.1:4610/forge/pull/1",
      dataDir: "/d",
      url: link,
      staysUp,
      isDashboardBuilt,
    };
    showWayBack(plainNarrator(stream as unknown as NodeJS.WriteStream), way);
    return String(stream.read()).split("\n");
  };
  const lines = shown(false);
  const at = lines.findIndex((line) => line.includes(link));
  expect(lines[at + 1]).toContain("The dashboard is not built");
  expect(lines[at + 2]).toContain("npm run build:dashboard");
  expect(shown(true).join("\n")).not.toContain("not built");
});
