import { plainLine } from '../machines/plain-line.ts';
import { shellWord } from '../machines/shell-word.ts';

/** `npx holdpoint` is two words; anything else is one path or name. */
const throughNpx = /^npx [\w.-]+$/;

let calledAs = 'holdpoint';

/** Records the name by which the command was invoked, as passed by `bin/holdpoint`; `undefined` means `holdpoint`. */
export function nameCommand(called: string | undefined): void {
  const word = plainLine(called ?? '');
  calledAs = throughNpx.test(word) ? word : shellWord(word === '' ? 'holdpoint' : word);
}

/** Returns a command line that users can copy, with the invoked name, such as `bin/holdpoint task list`. */
export function commandLine(words: string): string {
  return `${calledAs} ${words}`;
}
