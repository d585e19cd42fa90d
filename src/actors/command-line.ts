import { plainLine } from '../machines/plain-line.ts';
import { shellWord } from '../machines/shell-word.ts';

/** `npx holdpoint` is two words already; anything else is one path or name. */
const throughNpx = /^npx [\w.-]+$/;

let calledAs = 'holdpoint';

/** Notes what the command was called as, which `bin/holdpoint` passes on; nothing stands for `holdpoint`. */
export function nameCommand(called: string | undefined): void {
  const word = plainLine(called ?? '');
  calledAs = throughNpx.test(word) ? word : shellWord(word === '' ? 'holdpoint' : word);
}

/** Writes a line of this command as it was called, such as `bin/holdpoint task list`, for people to copy. */
export function commandLine(words: string): string {
  return `${calledAs} ${words}`;
}
