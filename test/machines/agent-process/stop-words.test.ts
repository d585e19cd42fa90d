import { expect, it } from 'vitest';
import { stoppedWords, stopWords } from '../../../src/machines/agent-process/stop-words.ts';

const words = (verb: 'stop' | 'restart', pending: number, onRestart: 'abandon' | 'resume') =>
  stopWords(verb, { id: 'foxtrot', pending, onRestart });

it('shows no warning for an agent without waiting calls', () => {
  expect(words('stop', 0, 'abandon')).toBeNull();
});

it.each([
  ['stop', 3, '3 calls are waiting for approval. Stopping foxtrot denies them.'],
  ['restart', 1, '1 call is waiting for approval. Restarting foxtrot denies it.'],
] as const)('warns that a %s denies %i calls', (verb, pending, said) => {
  expect(words(verb, pending, 'abandon')).toBe(said);
});

it('states that the calls of an agent that resumes keep waiting', () => {
  expect(words('stop', 2, 'resume')).toBe(
    '2 calls are waiting for approval. They keep waiting, and can be decided once foxtrot runs again.',
  );
});

it.each([
  [
    1,
    'abandon',
    '1 call was waiting for approval; it is denied when foxtrot starts again (on_restart: abandon)',
  ],
  [
    2,
    'resume',
    '2 calls were waiting for approval; they wait for foxtrot to start again (on_restart: resume)',
  ],
] as const)('states the outcome of %i calls after a stop with %s', (pending, onRestart, said) => {
  expect(stoppedWords({ id: 'foxtrot', pending, onRestart })).toBe(said);
});
