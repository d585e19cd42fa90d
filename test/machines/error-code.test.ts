import { describe, expect, it } from 'vitest';
import { causesOf, codeOf, connectionCode, isBrokenOff } from '../../src/machines/error-code.ts';

function failed(code: unknown, cause?: unknown): Error {
  return Object.assign(new Error('failed', { cause }), { code });
}

describe('the code of an error', () => {
  it('is its own string code, and no other property named code', () => {
    expect(codeOf(failed('ENOENT'))).toBe('ENOENT');
    const without = [
      failed(7),
      new Error('x', { cause: failed('EPIPE') }),
      { code: 'EPIPE' },
      null,
    ];
    expect(without.map(codeOf)).toEqual(['', '', '', '']);
  });

  it('of a connection error is found in its cause, and is a code of the operating system', () => {
    expect(connectionCode(failed('ERR_X', failed('ECONNREFUSED')))).toBe('ECONNREFUSED');
    expect(connectionCode(failed('UND_ERR_SOCKET'))).toBe('UND_ERR_SOCKET');
    expect(connectionCode(failed('sk-secret', failed('agent_not_asked')))).toBeNull();
    expect(connectionCode('ECONNREFUSED')).toBeNull();
    expect(connectionCode(failed('ECONNREFUSED sk-secret'))).toBeNull();
    expect(connectionCode(failed('sk-secret ECONNREFUSED'))).toBeNull();
  });

  it('distinguishes a broken connection from one that was never established', () => {
    const codes = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'ECONNREFUSED', 'ENOTFOUND', undefined];
    expect(codes.map((code) => isBrokenOff(failed('x', failed(code))))).toEqual([
      ...[true, true, true, false, false, false],
    ]);
  });

  it('is searched in a circular chain of causes without an endless loop', () => {
    const first = new Error('first');
    const second = new Error('second', { cause: first });
    first.cause = second;
    expect(causesOf(first)).toEqual([first, second, first, second, first, second]);
    expect(connectionCode(first)).toBeNull();
  });
});
