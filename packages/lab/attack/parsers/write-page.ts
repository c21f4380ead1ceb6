/** What lines of a made page begin with, and what they are made of. Each has the mark `<b1 x>` in places that may be code. */
interface Pieces {
  starts: readonly string[];
  words: readonly string[];
}

export const markdownPieces: Pieces = {
  starts: [
    ...["", "", "", "", "- ", "* ", "1. ", "> ", "    ", "  ", "   ", "\t", "# ", ": ", "| ", "- - ", "> - ", "      "],
    ...["```", "```js", "  ```", "   ```", "    ```", "~~~", "- ```", "> ```", "````", "===", "---", "|---|---|"],
    ...[
      "[a]: /b ",
      "[^1]: ",
      "!!! note\n    ",
      "::: tip\n",
      ":::",
      "/// note | x",
      "///",
      "<div>",
      "</div>",
      "<!-- A b. -->",
    ],
    ...[
      "$$",
      "(a)=",
      "term",
      "{% raw %}",
      "{% endraw %}",
      "<p>",
      "{: .a}",
      '=== "T"\n',
      "    open: true",
      "<Steps>",
      "</Steps>",
    ],
  ],
  words: [
    ...[
      "a ",
      "b",
      "c.",
      " ",
      "`<b1 x>`",
      "`<b1 x>`",
      "`a <b1 x>",
      "<b1 x>`",
      "`",
      "``",
      "` `",
      "``<b1 x>``",
      "\\",
      "\\`",
    ],
    ...[
      "*",
      "_",
      "[",
      "](/b)",
      "$",
      "{ x }",
      "{#a}",
      "<b>",
      "</b>",
      "&lt;",
      "|",
      "\\|",
      "<i>c</i>",
      "(",
      ")",
      "[^1]",
      "a_b",
    ],
    ...["<b1 x>", "<!-- A b. -->", "https://known.example/", "<!--", "-->", "'", '"'],
  ],
};

export const otherPieces: Readonly<Record<string, Pieces>> = {
  rst: {
    starts: [
      ...[
        "",
        "",
        "",
        "  ",
        "   ",
        "    ",
        "* ",
        "- ",
        "1. ",
        ".. ",
        ".. note:: ",
        ".. raw:: html",
        ".. _a: ",
        ".. [1] ",
      ],
      ...[
        ".. code-block:: js",
        "::",
        "===",
        "---",
        "| ",
        "+---+",
        "=== ===",
        ".. |a| replace:: ",
        ">>> ",
        ":a: ",
        "__ ",
        ".. only:: html",
      ],
    ],
    words: [
      "a ",
      "b::",
      "<b1 x>",
      "``<b1 x>``",
      "`a`",
      "``",
      "`",
      "\\",
      "|a|",
      ".. raw:: html",
      "\n\n   <b1 x>",
      "*",
      "_",
      ":raw:`<b1 x>`",
      "a: b",
    ],
  },
  adoc: {
    starts: [
      ...[
        "",
        "",
        "",
        "* ",
        ". ",
        " ",
        "= ",
        "== ",
        "----",
        "----",
        "....",
        "====",
        "--",
        "|===",
        "| ",
        "a| ",
        "++++",
        "////",
      ],
      ...[
        "[source]",
        "[source,js]",
        '[source,subs="+macros"]',
        "[pass]",
        "[listing]",
        ".Title",
        "+",
        "[NOTE]",
        "```",
        "// ",
        ":a: ",
        "a:: ",
        "NOTE: ",
        "[,js]",
      ],
    ],
    words: [
      ...[
        "a ",
        "b",
        "C++ ",
        "g++ ",
        "$$ ",
        "<b1 x>",
        "+++<b1 x>+++",
        "+++<b1 x>+++",
        "pass:[<b1 x>]",
        "pass:[<b1 x>]",
        "`",
        "+",
        "++",
        "{a}",
        "|",
      ],
      ...["pass:q[a]", "<<a>>", "xref:a::b.adoc[c]", "[.a]#b#", "*", "_", "\\"],
    ],
  },
};

/** A page of a few lines. The same seed gives the same page. */
export function writePage({ starts, words }: Pieces, seed: number): string {
  let state = seed;
  const pick = <T>(list: readonly T[]): T => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return list[((mixed ^ (mixed >>> 16)) >>> 0) % list.length] as T;
  };
  const line = () => pick(starts) + Array.from({ length: pick([0, 1, 1, 2, 3, 4]) }, () => pick(words)).join("");
  const lines = Array.from({ length: pick([2, 3, 4, 5, 6, 8]) }, () => line() + pick(["\n", "\n", "\n\n"]));
  return `A.\n\n${lines.join("")}`;
}
