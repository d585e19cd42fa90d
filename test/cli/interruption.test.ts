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
  it('leaves at once while nobody listens', () => {
    const { made, reasons } = interruption();
    expect(() => made.interrupt()).toThrow(Left);
    expect(reasons.map(({ exitCode }) => exitCode)).toEqual([130]);
  });

  it('aborts for whoever listens, and leaves at once the second time', () => {
    const { made } = interruption();
    const signal = made.listen();
    made.interrupt();
    expect(signal.reason).toMatchObject({ exitCode: 130, code: 'interrupted' });
    expect(() => made.interrupt()).toThrow(Left);
  });

  it('lets a command clean up, however often its terminal says that it has gone', () => {
    const { made, reasons } = interruption();
    const signal = made.listen();
    made.hangUp();
    made.hangUp();
    expect(signal.reason).toMatchObject({ exitCode: 130, code: 'interrupted' });
    expect(reasons).toEqual([]);
  });

  it('ends a command whose reader has gone, unless it works on without one', () => {
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
