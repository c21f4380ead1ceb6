const roundsMax = 2;
const formsMax = 40;
const decodedCharactersMax = 2_000_000;

/**
 * A text in what it decodes to: percent signs, base64 and hex (with or without separators), each once more over what
 * came out, and all of them backwards.
 */
export function decodedForms(text: string): readonly string[] {
  const forms = new Set([text]);
  let last: readonly string[] = [text];
  let room = decodedCharactersMax;
  for (let round = 0; round < roundsMax; round += 1) {
    const next = last.flatMap((form) => [unpercented(form), fromHex(form), ...fromBase64(form)]);
    last = [...new Set(next)]
      .filter((form) => form !== "" && !forms.has(form) && form.length < room)
      .slice(0, formsMax);
    for (const form of last) {
      forms.add(form);
      room -= form.length;
    }
  }
  return [...forms, ...[...forms].map((form) => [...form].reverse().join(""))];
}

function unpercented(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString());
}

/** Pairs of hex digits, one after another or with the same mark between all of them: `70 61`, `70:61`, `\\x70\\x61`. */
function fromHex(text: string): string {
  const runs = text.match(/(?:(?:0x|\\x|\\u00)?[0-9a-f]{2}[\s:,;.|_-]{0,2}){8,}/gi) ?? [];
  return runs
    .map((run) => Buffer.from(run.replaceAll(/0x|\\x|\\u00|[^0-9a-f]/gi, ""), "hex").toString("latin1"))
    .join("\n");
}

/** Wherever in a group of four the part begins that is looked for. */
function fromBase64(text: string): readonly string[] {
  const runs = text.replaceAll(/\r?\n/g, "").match(/[A-Za-z0-9+/_-]{12,}={0,2}/g) ?? [];
  return [0, 1, 2, 3].map((skip) =>
    runs.map((run) => Buffer.from(run.slice(skip), "base64").toString("latin1")).join("\n"),
  );
}
