import { describe, expect, it } from 'vitest';
import { causesOf, codeOf, connectionCode, isBrokenOff } from '../../src/machines/error-code.ts';

function failed(code: unknown, cause?: unknown): Error {
  return Object.assign(new Error('failed', { cause }), { code });
}

describe('the code of an error', () => {
  it('is its own text, and nothing else that is called a code', () => {
    expect(codeOf(failed('ENOENT'))).toBe('ENOENT');
    const without = [
      failed(7),
      new Error('x', { cause: failed('EPIPE') }),
      { code: 'EPIPE' },
      null,
    ];
    expect(without.map(codeOf)).toEqual(['', '', '', '']);
  });

  it('of a connection is found in what caused it, and is a word of the system', () => {
    expect(connectionCode(failed('ERR_X', failed('ECONNREFUSED')))).toBe('ECONNREFUSED');
    expect(connectionCode(failed('UND_ERR_SOCKET'))).toBe('UND_ERR_SOCKET');
    expect(connectionCode(failed('sk-secret', failed('agent_not_asked')))).toBeNull();
    expect(connectionCode('ECONNREFUSED')).toBeNull();
    expect(connectionCode(failed('ECONNREFUSED sk-secret'))).toBeNull();
    expect(connectionCode(failed('sk-secret ECONNREFUSED'))).toBeNull();
  });

  it('tells a connection that broke from one that was never made', () => {
    const codes = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ECONNREFUSED', 'ENOTFOUND', undefined];
    expect(codes.map((code) => isBrokenOff(failed('x', failed(code))))).toEqual([
      ...[true, true, true, false, false, false],
    ]);
  });

  it('is looked for in a chain that comes back to its begin, and the search ends', () => {
    const first = new Error('first');
    const second = new Error('second', { cause: first });
    first.cause = second;
    expect(causesOf(first)).toEqual([first, second, first, second, first, second]);
    expect(connectionCode(first)).toBeNull();
  });
});
