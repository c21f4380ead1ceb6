import type { Sample } from "./page-code.ts";

/** A request in a sample. Offsets are those of the sample's text. */
export interface ShownRequest {
  method: string;
  /** The path without scheme, host and query. */
  path: string;
  query: readonly { name: string; value: string }[];
  /** Null: no body, or not JSON. */
  body: string | null;
  offset: number;
}

const requestLine = /^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(\S+)(?:\s+HTTP\/[\d.]+)?[ \t]*$/gm;
const shells = new Set(["bash", "sh", "shell", "zsh", "console", "curl", "terminal", ""]);

/** The requests in a sample: `curl` commands, and blocks with the language `http`. */
export function readRequests({ language, text }: Sample): ShownRequest[] {
  if (language === "http") {
    return [...text.matchAll(requestLine)].flatMap((found) => {
      const after = text.slice(found.index + found[0].length);
      const blank = /\r?\n\r?\n/.exec(after);
      const rest = blank === null ? "" : after.slice(blank.index).trim();
      return makeRequest(found[1] as string, found[2] as string, /^[{[]/.test(rest) ? rest : null, found.index);
    });
  }
  return shells.has(language) ? readCurls(text) : [];
}

function readCurls(text: string): ShownRequest[] {
  const found: ShownRequest[] = [];
  for (const start of text.matchAll(/(?:^|[\s;&|(])curl\s/g)) {
    const offset = start.index + start[0].indexOf("curl");
    const words = readWords(text, offset);
    let method: string | null = null;
    let url: string | null = null;
    let data: string | null = null;
    for (let i = 1; i < words.length; i++) {
      const word = words[i] as string;
      const [flag = "", joined] = word.startsWith("--") ? word.split(/=(.*)/s) : [word];
      const value = (): string => joined ?? words[++i] ?? "";
      if (flag === "-X" || flag === "--request") method = value().toUpperCase();
      else if (/^-X./.test(flag)) method = flag.slice(2).toUpperCase();
      else if (flag === "--url") url = value();
      else if (flag === "-d" || /^--data(?:-raw|-binary)?$|^--json$/.test(flag)) data = value();
      else if (flag === "-I" || flag === "--head") method = "HEAD";
      else if (flag === "-G" || flag === "--get") method = "GET";
      else if (withValue.has(flag)) value();
      else if (!word.startsWith("-") && url === null) url = word;
    }
    if (url === null) continue;
    const body = data !== null && /^\s*[{[]/.test(data) ? data : null;
    found.push(...makeRequest(method ?? (data === null ? "GET" : "POST"), url, body, offset));
  }
  return found;
}

const withValue = new Set(
  "-H --header -u --user -o --output -A --user-agent -b --cookie -c --cookie-jar -F --form -m --max-time -w --write-out -x --proxy --data-urlencode --cacert --cert --key -T --upload-file -e --referer --retry --connect-timeout".split(
    " ",
  ),
);

/** The words of a shell command, from an offset to its end. */
function readWords(text: string, from: number): string[] {
  const words: string[] = [];
  let word: string | null = null;
  let quote = "";
  for (let i = from; i < text.length; i++) {
    const c = text.charAt(i);
    if (quote !== "") {
      if (c === quote) quote = "";
      else if (c === "\\" && quote === '"') word = `${word ?? ""}${text.charAt(++i)}`;
      else word = `${word ?? ""}${c}`;
    } else if (c === "'" || c === '"') {
      quote = c;
      word ??= "";
    } else if (c === "\\") {
      if (text.charAt(i + 1) === "\r") i++;
      if (text.charAt(i + 1) === "\n") i++;
      else word = `${word ?? ""}${text.charAt(++i)}`;
    } else if (/\s/.test(c) || c === "|" || c === ";" || c === ">" || c === ")") {
      if (word !== null) words.push(word);
      word = null;
      if (!/[ \t]/.test(c)) return words;
    } else word = `${word ?? ""}${c}`;
  }
  if (word !== null) words.push(word);
  return words;
}

/** None if the path contains a variable. A variable for the host is fine. */
function makeRequest(method: string, url: string, body: string | null, offset: number): ShownRequest[] {
  const found =
    /^(?:https?:\/\/[^/\s?#]+|\$\{?\w+\}?|\{\{?\w+\}?\}|<[\w-]+>|[\w.-]+(?::\d+)?)?(\/[^?#\s]*)(?:\?([^#\s]*))?/.exec(
      url,
    );
  if (found === null) return [];
  const query = (found[2] ?? "").split("&").filter((pair) => pair !== "");
  return [
    {
      method,
      path: found[1] as string,
      query: query.map((pair) => {
        const [name = "", value = ""] = pair.split("=");
        return { name: decode(name), value: decode(value) };
      }),
      body,
      offset,
    },
  ];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}
