/** Markers that Emend writes on lines of their own. All other comments are people's text and stay visible. */
const marks = /^<!-- emend:\w+=[\w-]+ -->[ \t]*$/gm;

/** Removes Emend's markers from a pull request's text, as other forges hide HTML comments. */
export function hideMarks(text: string): string {
  return text.replaceAll(marks, "").trimEnd();
}
