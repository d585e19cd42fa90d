import { expect, it } from 'vitest';
import { suggestName } from '../../../../src/actors/governance/guardrails/suggest-name.ts';

it.each([
  ['emial', 'did you mean email?'],
  ['phnoe', 'did you mean phone?'],
  ['address', 'use one of email, phone, or remove it'],
  ['', 'use one of email, phone, or remove it'],
])('tells who wrote %j what to write', (written, told) => {
  expect(suggestName(written, ['email', 'phone'])).toBe(told);
});
