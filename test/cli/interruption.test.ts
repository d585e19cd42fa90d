import { describe, expect, it } from 'vitest';
import type { CliError } from '../../src/cli/cli-error.ts';
import { Interruption, ReaderGone } from '../../src/cli/interruption.ts';

class Left extends Error {}

function interruption() {
  const reasons: CliError[] = [];
  const made = new Interruption((reason) => {
    reasons.push(reason);
    throw new Left();
  });
  return { made, reasons };
}

describe('Interruption', () => {
  it('exits at once without a listener', () => {
    const { made, reasons } = interruption();
    expect(() => made.interrupt()).toThrow(Left);
    expect(reasons.map(({ exitCode }) => exitCode)).toEqual([130]);
  });

  it('aborts for a listener, and exits at once at the second interruption', () => {
    const { made } = interruption();
    const signal = made.listen();
    made.interrupt();
    expect(signal.reason).toMatchObject({ exitCode: 130, code: 'interrupted' });
    expect(() => made.interrupt()).toThrow(Left);
  });

  it('lets a command clean up, for any number of signals', () => {
    const { made, reasons } = interruption();
    const signal = made.listen();
    made.terminate();
    made.terminate();
    made.interrupt();
    expect(signal.reason).toMatchObject({ exitCode: 130, code: 'interrupted' });
    expect(reasons).toEqual([]);
    expect(() => made.interrupt()).toThrow(Left);
  });

  it('reports unused signals to a daemon, and ends any other command', () => {
    const daemon = interruption().made;
    const other = interruption().made;
    const strays: string[] = [];
    const goesOn = daemon.listen({ onStray: (signal) => strays.push(signal) });
    const ends = other.listen();
    for (const made of [daemon, other]) made.stray('SIGUSR2');
    expect([goesOn.aborted, strays, ends.aborted]).toEqual([false, ['SIGUSR2'], true]);
  });

  it('ends a command whose reader has exited, unless it works without one', () => {
    const first = interruption().made;
    const second = interruption().made;
    const ends = first.listen();
    const goesOn = second.listen({ isReaderNeeded: false });
    first.readerGone();
    second.readerGone();
    expect(ends.reason).toBeInstanceOf(ReaderGone);
    expect(goesOn.aborted).toBe(false);
    second.interrupt();
    expect(goesOn.aborted).toBe(true);
  });
});
