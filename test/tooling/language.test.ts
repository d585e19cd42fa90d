import { expect, it } from 'vitest';
import { bannedIn } from '../../scripts/language/banned-in.ts';

it('finds banned phrases in comments, texts and pages, with their lines', () => {
  const source = [
    '/** Whoever sends it. */',
    "const text = 'the agent is told of it';",
    "import { heardSince } from './beside/told-of.ts';",
    'state.whatever = queue.beside.length;',
  ].join('\n');
  expect(bannedIn('src/a.ts', source)).toEqual([
    {
      place: 'src/a.ts:1',
      phrase: 'Whoever',
      instead: 'name the role: caller, approver, requester, operator',
    },
    {
      place: 'src/a.ts:2',
      phrase: 'is told',
      instead: 'write "receives" or "is notified of"',
    },
  ]);
  expect(bannedIn('docs/a.md', 'Not `whoever`, but says so.')).toEqual([
    { place: 'docs/a.md:1', phrase: 'says so', instead: 'write what is reported' },
  ]);
});
