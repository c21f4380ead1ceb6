import { AppError, type ErrorCode } from "../errors.ts";

const wordsLengthMax = 600;

/** What git said, fit to be shown: no credential, no path of this machine, no terminal escape, and not for ever. */
export function gitWords(stderr: string, hidden: readonly string[]): string {
  let words = stderr;
  for (const secret of hidden) if (secret.length > 3) words = words.replaceAll(secret, "…");
  words = words
    .replace(/(:\/\/)[^/@\s']*@/g, "$1")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal escapes come from the far end
    .replace(/\u001b\[[0-9;]*[A-Za-z]|[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, " ")
    .split("\n")
    .map((line) => line.replace(/^(fatal|error): /, "").trim())
    .filter((line) => line !== "")
    .join("; ");
  return words.length <= wordsLengthMax ? words : `${words.slice(0, wordsLengthMax)}…`;
}

/** The HTTP status behind git's words, which is all that git gives: every such failure exits with 128. */
export function httpStatusOf(stderr: string): number | null {
  const status = /The requested URL returned error: (\d{3})/.exec(stderr)?.[1];
  if (status) return Number(status);
  if (/Authentication failed for |could not read Username for /.test(stderr)) return 401;
  if (/repository '.*' not found|does not appear to be a git repository/.test(stderr)) return 404;
  return null;
}

/** Certificates do not mend themselves. */
export function isUntrusted(stderr: string): boolean {
  return /SSL certificate problem|certificate verification failed|no alternative certificate subject name/i.test(
    stderr,
  );
}

export function isDiskFull(stderr: string): boolean {
  return /No space left on device|Disk quota exceeded/.test(stderr);
}

/** For a command that should have worked. */
export function gitError(
  code: ErrorCode,
  options: { what: string; words: string; retryable?: boolean; cause?: unknown },
): AppError {
  const { what, words, ...rest } = options;
  return new AppError(code, { publicMessage: words ? `${what} (git: ${words})` : what, ...rest });
}
