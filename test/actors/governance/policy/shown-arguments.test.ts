import { describe, expect, it } from 'vitest';
import { shownArguments } from '../../../../src/actors/governance/policy/shown-arguments.ts';

const hide = (text: string) =>
  text.replaceAll('s3cret', '[redacted]').replaceAll(/pin: \d+/g, '[redacted:pin]');

describe('the arguments as shown to people', () => {
  it('are those of the call where nothing is hidden', () => {
    const args = { to: 'ann', items: [1, null, { a: true }] };
    expect(shownArguments(args, hide)).toBe(args);
  });

  it('have every matching string, name and number replaced, alone or next to its name', () => {
    const args = {
      to: 's3cret',
      pin: 4711,
      s3cret: [{ note: 'a s3cret b' }, 's3cret', 7, false],
      auth: { pin: '1234' },
    };
    const numbers = (text: string) => hide(text).replaceAll('4711', '[redacted:number]');
    expect(shownArguments(args, numbers)).toEqual({
      to: '[redacted]',
      pin: '[redacted:number]',
      '[redacted]': [{ note: 'a [redacted] b' }, '[redacted]', 7, false],
      auth: { pin: '[redacted:pin]' },
    });
  });

  it('have a member for each argument, also where their names become equal', () => {
    const names = (text: string) => text.replaceAll(/sk-\d/g, '[redacted]');
    const args = { 'sk-1': 'all', 'sk-2': 'none', in: { 'sk-3': 1, 'sk-4': 2, '[redacted]~2': 3 } };
    expect(shownArguments(args, names)).toEqual({
      '[redacted]': 'all',
      '[redacted]~2': 'none',
      in: { '[redacted]': 1, '[redacted]~2': 2, '[redacted]~2~2': 3 },
    });
  });

  it('are omitted where the search for secrets failed', () => {
    const broken = (): string => {
      throw new Error('no token');
    };
    expect(shownArguments({ to: 'ann' }, broken)).toEqual({
      arguments: '[omitted: the search for secrets failed]',
    });
  });
});
