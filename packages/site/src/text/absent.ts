const codes = new Set(["ENOENT", "EISDIR", "ENOTDIR", "EACCES"]);

/** Whether a read failed because file not found for us, rather than because something is wrong. */
export function isAbsent(error: unknown): boolean {
  return codes.has((error as NodeJS.ErrnoException).code ?? "");
}
