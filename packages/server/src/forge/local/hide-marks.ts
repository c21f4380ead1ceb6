/** What Emend leaves on lines of their own for itself. Any other comment is somebody's words, and is shown. */
const marks = /^<!-- emend:\w+=[\w-]+ -->[ \t]*$/gm;

/** What was written on a pull request without the marks by which Emend knows its own again: other forges hide them too. */
export function hideMarks(text: string): string {
  return text.replaceAll(marks, "").trimEnd();
}
