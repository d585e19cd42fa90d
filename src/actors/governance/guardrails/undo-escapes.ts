import { Rewriting } from './rewriting.ts';

/** A run of backslashes, including `\u005c`, and the JSON escape that it starts, if any. */
const escape = /\\(?:\\|u005[cC])*(?:u([\dA-Fa-f]{4})|(["'/bfnrt]))?/y;

/** Characters encoded by a letter after a backslash; any other character encodes itself. */
const controls: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Decodes JSON escapes at any nesting depth: a run of backslashes counts as one. Returns `null` for a text without
 * backslashes.
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
