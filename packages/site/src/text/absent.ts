const codes = new Set(["ENOENT", "EISDIR", "ENOTDIR", "EACCES"]);

/** Whether a read failed because the file does not exist, and not because of another error. */
export function isAbsent(error: unknown): boolean {
  return codes.has((error as NodeJS.ErrnoException).code ?? "");
}
