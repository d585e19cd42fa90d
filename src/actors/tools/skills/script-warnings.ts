import { basename, extname } from 'node:path';
import { readRegularFile } from '../../read-regular-file.ts';

/** Maximum size in bytes; longer files are data, not scripts. */
const largestScript = 1024 * 1024;

/** Interpreters matching each script extension, as named in a first line. */
const own: Record<string, RegExp> = {
  '.sh': /^(?:ba|da|k|z)?sh$/,
  '.py': /^python(?:3(?:\.\d+)?)?$/,
  '.js': /^node$/,
  '.mjs': /^node$/,
  '.ts': /^node$/,
};

/** Returns warnings about parts of a script that will not work as its author expects; empty for an unreadable one. */
export function scriptWarnings(path: string): string[] {
  const text = textOf(path);
  const file = basename(path);
  const [first = ''] = text.split(/\r?\n/, 1);
  const [, program, argument] = /^#!\s*(\S+)(?:\s+(?:-\S+\s+)*(\S+))?/.exec(first) ?? [];
  const named = basename((program?.endsWith('/env') ? argument : program) ?? '');
  return [
    ...(extname(path) === '.sh' && text.includes('\r\n')
      ? [
          `${file} has the line ends of Windows, which the shell reads as part of its words; save it with LF`,
        ]
      : []),
    ...(named !== '' && own[extname(path)]?.test(named) === false
      ? [
          `${file} asks for ${named} in its first line, but what runs it goes by its ending; rename it or write it for that`,
        ]
      : []),
  ];
}

function textOf(path: string): string {
  try {
    return readRegularFile(path, largestScript).toString('latin1');
  } catch {
    return '';
  }
}
