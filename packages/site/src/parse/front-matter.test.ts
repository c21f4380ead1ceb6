import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readFrontMatter } from "./front-matter.ts";

describe("readFrontMatter", () => {
  it.each([
    "title: Plain text",
    "title: It's a don't",
    "title: 10:30",
    "title: 'single'\nother: \"double\"",
    "tags: [a, b c, 3]",
    "tags:\n  - one\n  - two\nnext: 1",
    "tags:\n- one\n- two",
    "flag: true\ncount: 42\nversion: 1.10\ndate: 2024-01-02\nnone: null\nyes: yes",
    "link: http://x.y/z#frag",
    "empty:",
    "# comment\ntitle: A # note",
    "nested:\n  a: 1\n  b: 2",
    "text: |\n  a\n  b",
    "octal: 012\nhex: 0x1F\nexp: 1e3",
  ])("agrees with the full YAML parser on %j", (source) => {
    const front = readFrontMatter(`---\n${source}\n---\nBody`, 0);
    const expected = parse(source) as Record<string, unknown>;
    for (const [name, value] of Object.entries(expected)) {
      if (typeof value === "object" && value !== null && !Array.isArray(value)) continue;
      expect(front?.fields[name], name).toEqual(value);
    }
  });

  it("says where broken YAML is", () => {
    const front = readFrontMatter("---\ntitle: a\nbad: [1, 2\n---\n", 0);
    expect(front?.problem).toMatchObject({ line: expect.any(Number), message: expect.any(String) });
  });

  it("takes front matter that never ends for none", () => {
    expect(readFrontMatter(`---\n${"a: b\n".repeat(100)}`, 0)).toBeNull();
  });

  it("reads TOML between plus signs, and says where it is wrong", () => {
    const front = readFrontMatter('+++\ntitle = "A"\ntags = ["x", 1]\ndraft = true\n+++\nBody', 0);
    expect(front).toMatchObject({ format: "toml", fields: { title: "A", tags: ["x", 1], draft: true } });
    expect(front?.problem).toBeUndefined();
    const broken = readFrontMatter('+++\ntitle = "A"\ndraft = \n+++\n', 0);
    expect(broken?.problem).toMatchObject({ line: 3 });
  });

  it("agrees with the full parser on any plain lines", () => {
    const line = fc.tuple(fc.stringMatching(/^[a-z]{1,4}$/), fc.stringMatching(/^[A-Za-z0-9 :#'"[\],./-]{0,12}$/));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 4 }), (lines) => {
        const source = lines.map(([name, value]) => `${name}: ${value}`).join("\n");
        const front = readFrontMatter(`---\n${source}\n---\n`, 0);
        let expected: unknown;
        try {
          expected = parse(`${source}\n`);
        } catch {
          return front?.problem !== undefined;
        }
        if (typeof expected !== "object" || expected === null) return true;
        return Object.entries(expected).every(([name, value]) => {
          const isFlat = typeof value !== "object" || value === null;
          return !isFlat || front?.fields[name] === value;
        });
      }),
      { seed: 7, numRuns: 1000 },
    );
  });
});
