import { expect, it } from 'vitest';
import { missingVariable } from '../../../../../src/ui/dashboard/views/agents/crash-words.ts';

it.each([
  ['service.yaml:2:16: BILLING_MODEL is not set; set it\n1 problem in the files', 'BILLING_MODEL'],
  ['the environment variable TAVILY_API_KEY is not set', 'TAVILY_API_KEY'],
  ['the process ended without a word: it was killed', null],
  ['listen EADDRINUSE: the port is not set aside', null],
])('finds in %j the variable %j', (error, name) => {
  expect(missingVariable(error)).toBe(name);
});
