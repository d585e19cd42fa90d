import { expect, it } from 'vitest';
import { suggestName } from '../../../../src/actors/governance/guardrails/suggest-name.ts';

it.each([
  ['emial', 'did you mean email?'],
  ['phnoe', 'did you mean phone?'],
  ['address', 'use one of email, phone, or remove it'],
  ['', 'use one of email, phone, or remove it'],
])('a misspelled name %j is answered with the right one', (written, told) => {
  expect(suggestName(written, ['email', 'phone'])).toBe(told);
});
