import { load, YAMLException } from 'js-yaml';
import { largestSettingsFile } from '../read-regular-file.ts';
import { yamlLimits } from '../yaml-limits.ts';
import type { Position } from './config-problem.ts';

/** Message for a file larger than `largestSettingsFile`. */
export const tooLarge = 'the file is larger than 256 KiB; make it smaller';

/** Advice by the prefix of a parser message. */
const adviceOf = [
  ['tab characters', '; use spaces'],
  ['missed comma', '; close the bracket before it, or add the comma'],
  ['deficient indentation', '; close the bracket above, or indent the line'],
  ['bad indentation', '; align the keys of a map in one column'],
] as const;

/** The parser's message for a string without a value. */
const emptiness = 'input is empty';

/**
 * Rejects a string that is not a single small YAML document, before any other parser sees it. Returns the problem with
 * its position, or `null`. Duplicate keys pass, since the tree reports each of them. `mayBeEmpty` is for a file without
 * required keys.
 */
export function guardYaml(
  text: string,
  { mayBeEmpty = false }: { mayBeEmpty?: boolean } = {},
): (Position & { message: string }) | null {
  if (Buffer.byteLength(text) > largestSettingsFile) {
    return { line: 1, column: 1, message: tooLarge };
  }
  try {
    load(text, { ...yamlLimits, json: true });
    return null;
  } catch (error) {
    return mayBeEmpty && isEmptiness(error) ? null : refusalOf(error);
  }
}

function refusalOf(error: unknown): Position & { message: string } {
  const reason = error instanceof YAMLException ? error.reason : 'it cannot be read';
  const mark = error instanceof YAMLException ? error.mark : undefined;
  return {
    line: (mark?.line ?? 0) + 1,
    column: (mark?.column ?? 0) + 1,
    message: sentenceOf(reason),
  };
}

function isEmptiness(error: unknown): boolean {
  return error instanceof YAMLException && error.reason.includes(emptiness);
}

function sentenceOf(reason: string): string {
  if (reason.includes('maxDepth')) {
    return `the file is nested deeper than ${yamlLimits.maxDepth} levels; make it flatter`;
  }
  if (reason.includes('maxAliases')) {
    return `the file has more than ${yamlLimits.maxAliases} aliases; write the values out`;
  }
  if (reason.includes(emptiness)) return 'the file is empty; it needs at least agent_id';
  const advice = adviceOf.find(([start]) => reason.startsWith(start))?.[1] ?? '';
  return `the file is not valid YAML: ${reason}${advice}`;
}
