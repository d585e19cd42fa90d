import { expect, it } from 'vitest';
import { remedyOf } from '../../../../../src/ui/dashboard/views/agents/crash-words.ts';

it.each([
  [
    'service.yaml:2:16: BILLING_MODEL is not set; set it\n1 problem in the files',
    { kind: 'variable', name: 'BILLING_MODEL' },
  ],
  [
    'the environment variable TAVILY_API_KEY is not set',
    { kind: 'variable', name: 'TAVILY_API_KEY' },
  ],
  ['service.yaml:4:3: egress.mode must be a string', { kind: 'configuration' }],
  ['skills/till/SKILL.md:1:1: name is missing', { kind: 'configuration' }],
  [
    'port 8080 on 127.0.0.1 is taken by another program; name another with --port',
    { kind: 'port' },
  ],
  ['the passphrase is wrong, or the file was changed', { kind: 'passphrase' }],
  [
    'the process ended without a word: it was killed, or the machine was restarted; start the agent again',
    { kind: 'start' },
  ],
  ['listen EACCES: the port is not set aside', { kind: 'log' }],
  ['the agent did not respond within 120 s; see /a/.service/serve.log', { kind: 'log' }],
])('a crash with %j has a remedy', (error, remedy) => {
  expect(remedyOf(error)).toEqual(remedy);
});
