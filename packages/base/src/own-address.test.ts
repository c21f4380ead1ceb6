import { expect, test } from "vitest";
import { addressUsed, isFromOwnPage } from "./network.ts";

test.each([
  ["127.0.0.1:4600", "http://127.0.0.1:4600"],
  ["localhost:4600", "http://localhost:4600"],
  ["[::1]:4600", "http://[::1]:4600"],
  ["localhost:9000", "http://localhost:9000"],
  ["emend.localhost", "http://emend.localhost"],
])("a browser at the loopback name %s is let in there", (host, at) => {
  expect(addressUsed({ host }, "http://127.0.0.1:4600")).toBe(at);
  expect(addressUsed({ host }, "http://localhost:4600/base")).toBe(`${at}/base`);
  expect(isFromOwnPage({ host, origin: at, "sec-fetch-site": "same-origin" }, "http://127.0.0.1:4600")).toBe(true);
});

test.each([
  ["a page of another server on this machine", { host: "localhost:4600", origin: "http://localhost:3000" }],
  ["another name for this machine than the one asked", { host: "localhost:4600", origin: "http://127.0.0.1:4600" }],
  ["a name that leads here by DNS rebinding", { host: "evil.example", origin: "http://evil.example" }],
  ["a name that begins like loopback", { host: "127.0.0.1.evil.example", origin: "http://127.0.0.1.evil.example" }],
  ["a Host with a user in it", { host: "x@localhost:4600", origin: "http://localhost:4600" }],
  ["no Host", { origin: "http://localhost:4600" }],
  ["TLS that Emend did not offer", { host: "localhost:4600", origin: "https://localhost:4600" }],
  ["a sibling's page", { host: "localhost:1", origin: "http://localhost:1", "sec-fetch-site": "same-site" as const }],
])("%s is not Emend's own page", (_what, headers) => {
  expect(isFromOwnPage(headers, "http://127.0.0.1:4600")).toBe(false);
});

test("a server with a public address is used at that address alone", () => {
  for (const publicUrl of ["https://emend.example.com", "http://10.0.0.7:4600"]) {
    expect(addressUsed({ host: "localhost:4600" }, publicUrl)).toBe(publicUrl);
    expect(isFromOwnPage({ host: "localhost:4600", origin: "http://localhost:4600" }, publicUrl)).toBe(false);
  }
});
