import { describe, expect, it } from 'vitest';
import { type Attendance, serveUntil } from '../../src/cli/serve-until.ts';

/** What happens around an agent, of which one thing may fail. */
function attendance(failing: string | null = null) {
  const happened: string[] = [];
  const note = (what: string) => (): void => {
    happened.push(what);
    if (what === failing) throw new Error(`${what} failed`);
  };
  const stop = async (): Promise<void> => note('stop')();
  const around: Omit<Attendance, 'stopped'> = {
    list: () => {
      note('list')();
      return note('unlist');
    },
    announce: note('announce'),
    tellServiceManager: async () => {
      note('tell')();
      return { stopping: note('stopping'), end: note('end') };
    },
  };
  return { happened, agent: { stop }, around };
}

describe('an agent in the foreground', () => {
  it('runs until it is stopped', async () => {
    const { happened, agent, around } = attendance();
    const stopped = Promise.withResolvers<void>();
    const serving = serveUntil(agent, { ...around, stopped: stopped.promise });
    expect(happened).toEqual(['list', 'announce', 'tell']);
    happened.length = 0;
    stopped.resolve();
    await serving;
    expect(happened).toEqual(['unlist', 'stopping', 'stop', 'end']);
  });

  it.each([
    ['list', ['list', 'stop']],
    ['announce', ['list', 'announce', 'unlist', 'stop']],
    ['tell', ['list', 'announce', 'tell', 'unlist', 'stop']],
    ['unlist', ['list', 'announce', 'tell', 'unlist', 'stop', 'end']],
    ['stopping', ['list', 'announce', 'tell', 'unlist', 'stopping', 'stop', 'end']],
    ['stop', ['list', 'announce', 'tell', 'unlist', 'stopping', 'stop', 'end']],
  ])('stops when %s fails', async (failing, expected) => {
    const { happened, agent, around } = attendance(failing);
    const serving = serveUntil(agent, { ...around, stopped: Promise.resolve() });
    await expect(serving).rejects.toThrow(`${failing} failed`);
    expect(happened).toEqual(expected);
  });
});
