import { basename, extname } from 'node:path';
import { readRegularFile } from '../../read-regular-file.ts';

/** Longer files are data, not scripts. */
const largestScript = 1024 * 1024;

/** Programs that a first line may name, by the ending of the script that they are run for. */
const own: Record<string, RegExp> = {
  '.sh': /^(?:ba|da|k|z)?sh$/,
  '.py': /^python(?:3(?:\.\d+)?)?$/,
  '.js': /^node$/,
  '.mjs': /^node$/,
  '.ts': /^node$/,
};

/** Says in words what of a script will not do what its author expects; nothing for one that cannot be read. */
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
