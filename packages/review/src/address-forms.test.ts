import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { syntaxes } from "../test/syntaxes.ts";
import { hostsIn } from "./hosts/hosts-in.ts";
import { readPage } from "./read-page.ts";

/** What a real Chromium requests and runs. The browser tests verify this table. */
const table: { forms: readonly { html: string; asks: readonly string[]; runs: boolean }[] } = JSON.parse(
  readFileSync(new URL("../test/fixtures/address-forms.json", import.meta.url), "utf8"),
);

it("holds what browsers act on, so that the tests below say something", () => {
  expect(table.forms.length).toBeGreaterThan(200);
  expect(table.forms.filter(({ runs }) => runs).length).toBeGreaterThan(30);
  expect(table.forms.filter(({ asks }) => asks.length > 0).length).toBeGreaterThan(100);
});

it.each(table.forms.filter(({ asks, runs }) => runs || asks.length > 0))(
  "sees what a browser does with $html",
  ({ html, asks, runs }) => {
    for (const syntax of [syntaxes.common, syntaxes.vue]) {
      const parts = readPage(html, syntax);
      // What is unknown or forbidden is seen.
      if (parts.some(({ kind }) => !/^(?:address|sample)$/.test(kind))) continue;
      expect(runs).toBe(false);
      const seen = parts.flatMap(({ hosts = [] }) => hosts);
      // For an unusual name, the review names its registered domain. Reserved names and this machine are not reported.
      const isSeen = (host: string) => seen.some((one) => `.${host.replace(/\.$/, "")}`.endsWith(`.${one}`));
      const hosts = asks.filter((host) => hostsIn(`https://${host}/`).size > 0);
      expect(hosts.filter((host) => !isSeen(host))).toEqual([]);
    }
  },
);
