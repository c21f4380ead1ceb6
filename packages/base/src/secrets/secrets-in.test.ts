import { expect, it } from "vitest";
import { createKeyedMutex } from "../locks.ts";
import { redactSecrets, secretsIn, UnsearchableText } from "./secrets-in.ts";

const github = ["ghp", "_", "0123456789abcdefABCDEF0123456789abcd"].join("");

it("a page cannot turn the search off", async () => {
  for (const words of [
    "<!-- secretlint-disable -->",
    "secretlint-disable-line",
    "<!-- secretlint-disable-next-line -->",
  ])
    expect(await redactSecrets(`${words}\n${github} ${words}`)).toBe(`${words}\n[redacted: github] ${words}`);
});

it("the line is that of readers who split at line feeds, whatever else breaks lines", async () => {
  expect(await secretsIn(`a\r\r\u2028\u2029\r${github}\n${github}\r\n\n${github}`)).toMatchObject([
    { line: 1 },
    { line: 2 },
    { line: 4 },
  ]);
});

it("a text with too many credentials is refused, not searched to its end", async () => {
  await expect(secretsIn("xapp-1-a ".repeat(100_000))).rejects.toThrow(UnsearchableText);
  expect(await secretsIn("xapp-1-a ".repeat(500))).toHaveLength(500);
});

it("the event loop goes round while a text is searched", async () => {
  await secretsIn("the thread is there");
  let rounds = 0;
  let isOver = false;
  const goRound = () => {
    rounds += 1;
    if (!isOver) setImmediate(goRound);
  };
  setImmediate(goRound);
  await secretsIn("https://a:b@c ghs_1_a. ".repeat(20_000));
  isOver = true;
  expect(rounds).toBeGreaterThan(20);
});

it("a search that takes too long is stopped, and the next one starts a new thread", async () => {
  const slow = "https://a:b@c ghs_1_a. ".repeat(20_000);
  await expect(secretsIn(slow, [], { msMax: 1 })).rejects.toThrow("took too long");
  expect(await secretsIn(github)).toHaveLength(1);
});

it("nothing is kept of a search", async () => {
  const before = performance.getEntries().length;
  for (let count = 0; count < 20; count += 1) await secretsIn(github);
  expect(performance.getEntries().length).toBe(before);
});

it("work of one key goes one after the other, that of another key beside it, and too much is refused", async () => {
  const mutex = createKeyedMutex({ waitingMax: 1 });
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const begun: string[] = [];
  const work = (name: string) => async () => {
    begun.push(name);
    await gate;
    return name;
  };
  const [first, second, other] = [
    mutex.run("a", work("first")),
    mutex.run("a", work("second")),
    mutex.run("b", work("other")),
  ];
  expect(mutex.run("a", work("third"))).toBeNull();
  await new Promise(setImmediate);
  expect(begun).toEqual(["first", "other"]);
  open();
  expect(await Promise.all([first, second, other])).toEqual(["first", "second", "other"]);
  await expect(mutex.run("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await mutex.run("a", work("after a failure"))).toBe("after a failure");
});

/** Made of pieces, so that scanners of this repository find nothing. */
const of = (...pieces: string[]) => pieces.join("");
const random = "Zx8Qv2Lm9Rt4Kp7Wn3Bd6Hs1Jf5Yc0Ga";
const id = of("AKIA", "Q3EGRZTVNB5LYMXK");
const jwt = [
  of("eyJhbGciOi", "JIUzI1NiIsInR5cCI6IkpXVCJ9"),
  of("eyJzdWIiOi", "IxMjM0NTY3ODkwIiwibmFtZSI6IkEifQ"),
  of(random, "Ab9"),
];

it.each([
  ["an AWS key id", `Use ${id} for the bucket.`],
  ["a bearer token in a curl sample", `curl -H "Authorization: Bearer ${random}" https://api.test/`],
  ["a Google key", `key: ${of("AIza", "SyB1x7Qm4Zr9Kp2Wn6Td3Hs8Jf5Yc0GaLvQ")}`],
  ["a JWT", `token ${jwt.join(".")} here`],
  [
    "a short PEM",
    of(
      "-----BEGIN PRIVATE",
      ` KEY-----\nMC4CAQAwBQYDK2VwBCIEI${random}${random.slice(0, 11)}\n-----END PRIVATE KEY-----`,
    ),
  ],
  ["a PEM without its end", of("-----BEGIN RSA PRIVATE", ` KEY-----\nProc-Type: 4,ENCRYPTED\n\n${random}${random}\n`)],
  ["an SSH2 key", of("---- BEGIN SSH2 ENCRYPTED PRIVATE", ` KEY ----\nComment: "me"\n${random}${random}\n`)],
  ["a PuTTY key", of("PuTTY-User-Key-File-3: ssh-rsa\nPrivate-", `Lines: 14\n${random}${random}\n`)],
  ["a JWK", `{ "kty": "RSA", "e": "AQAB", ${of('"', `d": "${random}${random}"`)} }`],
  ["a JWK of which the kind comes last", of(`{\n  "`, `d": "${random}",\n  "crv": "Ed25519",\n  "kty": "OKP"\n}`)],
  ["a symmetric JWK in a string", of(`"{\\"kty\\":\\"oct\\",\\"`, `k\\":\\"${random}\\"}"`)],
  ["an OpenAI key", of("sk-", `${random.slice(0, 20)}T3BlbkFJ${random.slice(0, 20)}`)],
  ["an Anthropic key", of("sk-ant-", `api03-${random}${random}${random.slice(0, 29)}AA`)],
])("finds %s", async (_, text) => {
  expect(await secretsIn(`Before.\n${text} \nAfter.`)).not.toEqual([]);
});

it("an AWS secret is found beside its id only", async () => {
  const secret = of("kX9vT2qLw7Zr4Np8", "Hs1Jf5Yc0GaMb3Rd6Te+Ui/o");
  expect(await redactSecrets(`Use ${id} with ${secret}.`)).toMatch(/with \[redacted: aws-secret\]\.$/);
  expect(await secretsIn(`The sum is ${secret}.`)).toEqual([]);
});

it("of a private JWK the public part stays", async () => {
  const key = of('{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","', `d":"${random}"}`);
  expect(await redactSecrets(key)).toMatch(/"x":"f83O[^"]*","d":"\[redacted: jwk\]"}$/);
});

it.each([
  '{ "kty": "RSA", "e": "AQAB", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc" }',
  '{ "kty": "RSA", "d": "<the private exponent>" }, { "d": "..." }',
  'curl -H "Authorization: Bearer YOUR_API_KEY" https://api.test/',
  'curl -H "Authorization: Bearer $TOKEN" https://api.test/',
  'curl -H "X-Api-Key: <your-key>" -u user:password https://api.test/',
  of("AKIA", "IOSFODNN7EXAMPLE"),
  "Set `OPENAI_API_KEY=sk-...`, or ghp_xxxxxxxx.",
  "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
  "The commit 3f786850e387550fdab836ed7e6dc881de23001b and sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.",
])("leaves a placeholder alone: %s", async (text) => {
  expect(await secretsIn(text)).toEqual([]);
});
