import { stripVTControlCharacters } from 'node:util';
import { unsafeCharacters } from '../../../machines/unsafe-characters.ts';
import { redactSecrets } from '../../governance/governance.ts';

const mostLines = 5;
const mostCharacters = 500;

/**
 * Returns the last lines of a program's error output on one line, safe to show, without any of `secrets` in any of its
 * forms. They go before a line is cut, so that no half of one is left at its end.
 */
export function lastLines(output: string, secrets: readonly string[]): string {
  const text = redactSecrets(stripVTControlCharacters(output), secrets, '[redacted]');
  return withoutCrashFrame(text.split(/\r?\n|\r/))
    .map((line) => line.replaceAll('\t', ' ').replace(unsafeCharacters, '').trim())
    .filter((line) => line !== '')
    .slice(-mostLines)
    .map((line) => [...line].slice(0, mostCharacters).join(''))
    .join(' / ');
}

/** What Node writes around an error that nobody caught; the error itself would not be among the last lines. */
const crashFrame = /^(?:\s+at .*|Node\.js v[\d.]+|[\s{}[\]()^,]*)$/;

function withoutCrashFrame(lines: string[]): string[] {
  const isCrash = /^Node\.js v[\d.]+$/.test(lines.findLast((line) => line !== '') ?? '');
  return isCrash ? lines.filter((line) => !crashFrame.test(line)) : lines;
}
