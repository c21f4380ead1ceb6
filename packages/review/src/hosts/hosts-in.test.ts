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
  "![x]( //evil.example/x)",
  "![x](\n//evil.example/x)",
  '<img src=" //evil.example/x">',
  "<img src= //evil.example/x>",
  "url( //evil.example/x)",
  "_https://evil.example_",
  "**https://evil.example**",
  "_//evil.example/x_",
  "[1]:          //evil.example/x",
  '<img srcset="a.png 1x, //evil.example/x 2x">',
  '<img srcset="a.png 1x,//evil.example/x 2x">',
  "See https://evil.example, please.",
  "See https://evil.example:**",
  "https://known(@evil.example/x",
  '<img srcdoc="<img src=&quot;//evil.example/x&quot;>">',
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
  "postgres://user:word@db.evil.example/x and mongodb+srv://db.evil.example",
  "jdbc:postgresql://db.evil.example/x or git+ssh://git@evil.example/x.git",
])("%s points nowhere else", (text) => {
  expect([...hostsIn(text)]).toEqual([]);
});

test.each([
  "<img src={logo} />",
  '<img src={useBaseUrl("/img/a.png")} />',
  '<img src={require("./a.png").default} />',
  '<a href={"/guides/" + name} />',
  ["<a href={`/users/$", "{id}`} />"].join(""),
  'const a = "b" + "c";',
])("%s stays here", (text) => {
  expect([...hostsIn(text)]).toEqual([]);
});

test("reads each entry of a list", () => {
  expect([...hostsIn("https://known.test,//evil.example/x")]).toEqual(["known.test", "evil.example"]);
  expect([...hostsIn("https://known.test(@evil.example/x")]).toContain("evil.example");
});

test("tells a site from the line behind it, and is done soon with what never ends", () => {
  expect([...hostsIn("See https://evil.example\nand don't\tgo.")]).toEqual(["evil.example"]);
  expect([...hostsIn('src={"//'.repeat(50_000))]).toEqual([]);
});
