/** A time as this browser's zone has it, in a form that sorts: "2026-03-02 09:15". */
export function localTime(at: string): string {
  const time = new Date(at);
  const two = (part: number) => String(part).padStart(2, "0");
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-");
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
