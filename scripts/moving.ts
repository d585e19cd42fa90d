import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  type ForeignKey,
  foreignValues,
  forgeKeys,
  serverKeys,
} from '../src/machines/moving/foreign-keys.ts';
import { tableOf, withPart } from './pages/generated-part.ts';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });
const file = `${import.meta.dirname}/../docs/moving.md`;
const written = readFileSync(file, 'utf8');
const page = [
  keys('forge', '`forge.yaml`', forgeKeys),
  keys('servers', 'Setting of a server', serverKeys),
  table(
    'values',
    ['Name there', 'Name here'],
    Object.entries(foreignValues).map(([there, here]) => [`\`${there}\``, `\`${here}\``]),
  ),
].reduce((text, { name, lines }) => withPart(text, name, lines), written);

if (!values.check) writeFileSync(file, page);
else if (page !== written) {
  console.error('docs/moving.md is stale; run npm run moving and commit it');
  process.exitCode = 1;
}

/** The keys that keep their name in one sentence, and a row for each other outcome. */
function keys(
  name: string,
  head: string,
  rows: readonly ForeignKey[],
): { name: string; lines: string } {
  const byOutcome = Map.groupBy(rows, outcomeOf);
  const named = (keysOfIt: readonly ForeignKey[] = []) =>
    keysOfIt.map(({ path }) => `\`${path}\``).join(', ');
  const kept = byOutcome.get('taken');
  const others = [...byOutcome].filter(([outcome]) => outcome !== 'taken');
  const { lines } = table(
    name,
    [head, 'Here'],
    others.map(([outcome, keysOfIt]) => [named(keysOfIt), outcome]),
  );
  return { name, lines: kept === undefined ? lines : `\nTaken: ${named(kept)}.\n${lines}` };
}

function outcomeOf({ path, to, lost, isControl = false }: ForeignKey): string {
  if (to === undefined) return isControl ? `**error**: ${lost}` : `not supported: ${lost}`;
  const note = isControl ? '; an error where it cannot be kept' : '';
  return to === path ? `taken${note}` : `\`${to}\`${note}`;
}

function table(
  name: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): { name: string; lines: string } {
  return { name, lines: `\n${tableOf(head, rows)}\n` };
}
