import { stripVTControlCharacters } from 'node:util';
import { unsafeCharacters } from '../../../machines/unsafe-characters.ts';
import { redactSecrets } from '../../governance/governance.ts';

const mostLines = 5;
const mostCharacters = 500;

/**
 * Returns the last lines of a program's stderr on one line, safe to display, with `secrets` removed in all their forms.
 * Secrets are removed before truncation, so that no partial secret remains at the end.
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

/** Lines that Node prints around an uncaught error; they would displace the error itself from the last lines. */
const crashFrame = /^(?:\s+at .*|Node\.js v[\d.]+|[\s{}[\]()^,]*)$/;

function withoutCrashFrame(lines: string[]): string[] {
  const isCrash = /^Node\.js v[\d.]+$/.test(lines.findLast((line) => line !== '') ?? '');
  return isCrash ? lines.filter((line) => !crashFrame.test(line)) : lines;
}
