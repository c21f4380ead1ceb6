import { expect, test } from "vitest";
import { guardedLookup, mayConnect } from "./ssrf-guard.ts";

const publicOnes = ["1.1.1.1", "93.184.216.34", "172.32.0.1", "2606:4700::1111", "::ffff:1.1.1.1"];
const privateOnes = [
  "127.0.0.1",
  "127.1.2.3",
  "0.0.0.0",
  "10.0.0.1",
  "100.64.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "198.18.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:10.1.2.3",
  "0:0:0:0:0:ffff:c0a8:101",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b:1::7f00:1",
  "2002:7f00:1::",
  "2001:0:1::1",
  "fc00::1",
  "fd12:3456::1",
  "fec0::1",
  "ff02::1",
];
const metadataOnes = [
  "169.254.169.254",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "fe80::1",
  "fe80::1%eth0",
  "100.100.100.200",
  "fd00:ec2::254",
  "::a9fe:a9fe",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::",
];

test.each(publicOnes)("%s is public", (address) => {
  expect(mayConnect(address, { allowPrivate: false })).toBe(true);
});

test.each(privateOnes)("%s is reached only where the operator allows it", (address) => {
  expect(mayConnect(address, { allowPrivate: false })).toBe(false);
  expect(mayConnect(address, { allowPrivate: true })).toBe(true);
});

test.each(metadataOnes)("%s is never reached", (address) => {
  expect(mayConnect(address, { allowPrivate: true })).toBe(false);
});

test("a name with a public and a private address leads to the public one only", async () => {
  const mixed = [
    { address: "127.0.0.1", family: 4 },
    { address: "93.184.216.34", family: 4 },
    { address: "::1", family: 6 },
  ];
  const lookup = guardedLookup({ allowPrivate: false, resolve: (_host, done) => done(null, mixed) });
  const found: unknown[] = [];
  lookup("mixed.test", { all: true }, (error, addresses) => found.push(error, addresses));
  lookup("mixed.test", {}, (error, address) => found.push(error, address));
  expect(found).toEqual([null, [mixed[1]], null, "93.184.216.34"]);
});
