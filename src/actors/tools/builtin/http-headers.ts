/** Headers that belong to the connection, not to the caller. */
const forbidden = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
]);

const most = 50;

/** Returns the fault of a tool's request headers, in one sentence without values; `null` for valid ones. */
export function headersProblem(headers: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(headers);
  if (entries.length > most) return `there may be at most ${most} headers`;
  const names = entries.map(([name]) => name.toLowerCase());
  for (const [index, [name, value]] of entries.entries()) {
    const lower = names[index] ?? '';
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/.test(lower)) return 'a header name is not one';
    if (forbidden.has(lower) || lower.startsWith('proxy-')) {
      return `the header ${name} cannot be set; leave it out`;
    }
    if (names.indexOf(lower) < index) return `the header ${name} is given twice`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return `the header ${name} holds characters that no header can carry`;
    }
  }
  return null;
}
