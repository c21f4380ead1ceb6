/** "4.2 s", "12 min 5 s", "3 h 20 min", "2 d 5 h": two units at most. */
export function durationOf(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A time in this browser's zone, in a sortable form: "2026-03-02 09:15". */
export function localTime(at: string): string {
  const time = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** A job's title: of its change, unless it says the same as the prompt, which is its title before. */
export function jobTitle({ title, prompt }: { title: string | null; prompt: string }): string {
  const asked = prompt.trim().split("\n", 1)[0] || "(blank)";
  return title === null || wordsOf(title) === wordsOf(asked) ? asked : title;
}

/** The rules' titles have other commas than what was asked, and no full stop. */
function wordsOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[.,;!\s]+/g, " ")
    .trim();
}

/** What a suggestion's prompt asks for: without the list that it ends with. */
export function askOf(prompt: string): string {
  const [first = ""] = prompt.split("\n", 1);
  return first.endsWith(":") ? `${first.slice(0, -1)}.` : prompt;
}
