import { expect, test } from "vitest";
import { hostsIn } from "./hosts-in.ts";

test.each([
  "See [it](https://evil.example/?d=1).",
  "![x](http://evil.example:8080/a.png)",
  "![x][1]\n\n[1]: //evil.example/x",
  '<img src="//evil.example/x">',
  "<img src=//evil.example/x>",
  "<https://evil.example>",
  "https://github.com@evil.example/x",
  "https://user:word@EVIL.example./x",
  "https:\\\\evil.example\\x",
  "https:/evil.example/x",
  "[x](https\\://evil.example)",
  '<img src="https&#58;//evil.example/x">',
  '<img src="https&#x3A;&sol;&sol;evil&period;example/x">',
  "[x](h&#116;tps://evil.example)",
  'src={"//evil.example"}',
  "url(//evil.example/x.png)",
  "wss://evil.example/socket",
])("%s points at evil.example", (text) => {
  expect([...hostsIn(text)]).toEqual(["evil.example"]);
});

test.each([
  ["https://bücher.example/", ["xn--bcher-kva.example"]],
  ["http://0x7f000002/x", ["127.0.0.2"]],
  ["http://3232235777/", ["192.168.1.1"]],
  ["http://[2001:db8::1]/", ["[2001:db8::1]"]],
  ["www.evil.example", ["www.evil.example"]],
])("%s is read as a browser reads it", (text, hosts) => {
  expect([...hostsIn(text)]).toEqual(hosts);
});

test.each([
  "plain words, a/b/c and //console.log(1) in code",
  "x = a //b.c",
  "https://example.com and http://api.example.org/x",
  "http://localhost:3000 or http://127.0.0.1:4600",
  ["https://$", "{host}/x and https://<your-domain>/x and https://{domain}"].join(""),
  '<svg xmlns="http://www.w3.org/2000/svg">',
  "/guides/auth and ../a.md#b and mail@evil.example",
])("%s points nowhere else", (text) => {
  expect([...hostsIn(text)]).toEqual([]);
});
