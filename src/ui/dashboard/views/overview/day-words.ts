/** Formats a day such as `2026-11-24`: `24 Nov`, in the order of the reader's language. */
export function dayWords(day: string): string {
  const at = new Date(`${day}T12:00:00Z`);
  if (Number.isNaN(at.getTime())) return day;
  return at.toLocaleDateString(undefined, { timeZone: 'UTC', day: 'numeric', month: 'short' });
}
