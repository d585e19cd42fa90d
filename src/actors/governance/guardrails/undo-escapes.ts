import { Rewriting } from './rewriting.ts';

/** A run of backslashes, those written as `\u005c` counted, and the escape of JSON that it begins, if any. */
const escape = /\\(?:\\|u005[cC])*(?:u([\dA-Fa-f]{4})|(["'/bfnrt]))?/y;

/** What a letter behind a backslash stands for; any other character stands for itself. */
const controls: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Undoes the escapes of JSON, however often one text was put into another: a run of backslashes counts
 * as one. Returns `null` for a text without backslashes.
 */
export function undoEscapes(text: string): Rewriting | null {
  let place = text.indexOf('\\');
  if (place === -1) return null;
  const undone = new Rewriting(text);
  let copied = 0;
  for (; place !== -1; place = text.indexOf('\\', copied)) {
    undone.copy(copied, place);
    escape.lastIndex = place;
    const [found, code, letter] = escape.exec(text) ?? ['\\'];
    copied = place + found.length;
    undone.put(meaningOf(code, letter), place, copied);
  }
  undone.copy(copied, text.length);
  return undone;
}

function meaningOf(code: string | undefined, letter: string | undefined): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return letter === undefined ? '\\' : (controls[letter] ?? letter);
}
