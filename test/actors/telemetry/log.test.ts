import { describe, expect, it } from 'vitest';
import { createLog, type LogLevel } from '../../../src/actors/telemetry/log.ts';

function open({ level = 'info', isTTY = false }: { level?: LogLevel; isTTY?: boolean } = {}) {
  const written: string[] = [];
  const log = createLog({ level, stream: { isTTY, write: (text) => written.push(text) } });
  return { log, written };
}

const aTime: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

describe('createLog', () => {
  it('writes one JSON object per line', () => {
    const { log, written } = open();
    log.info({ task_id: 'r1' }, 'task: accepted');
    log.warn({}, 'store: slow');
    expect(written.map((line) => JSON.parse(line) as unknown)).toEqual([
      { level: 'info', time: aTime, task_id: 'r1', msg: 'task: accepted' },
      { level: 'warn', time: aTime, msg: 'store: slow' },
    ]);
    expect(written.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
  });

  it('omits entries below its level', () => {
    const { log, written } = open({ level: 'warn' });
    log.info({}, 'unheard');
    expect(written).toEqual([]);
  });

  it('writes an error with its type, message and stack', () => {
    const { log, written } = open();
    log.error({ error: new TypeError('boom') }, 'tool: failed');
    expect(JSON.parse(written[0] ?? '')).toEqual({
      level: 'error',
      time: aTime,
      error: { type: 'TypeError', message: 'boom', stack: expect.stringContaining('boom') },
      msg: 'tool: failed',
    });
  });

  it.each(['token', 'authorization', 'passphrase', 'cookie', 'set-cookie', 'apiKey', 'password'])(
    'redacts %s down to the fourth level',
    (key) => {
      for (const isTTY of [false, true]) {
        const { log, written } = open({ isTTY });
        const secret = { [key]: 'canary' };
        log.info({ ...secret, a: { ...secret, b: { ...secret, c: secret } } }, 'x');
        expect(written.join('')).toContain('[redacted]');
        expect(written.join('')).not.toContain('canary');
      }
    },
  );

  it('redacts the properties of an error', () => {
    const { log, written } = open();
    const error = Object.assign(new Error('refused'), { headers: { authorization: 'canary' } });
    log.error({ error }, 'x');
    expect(written.join('')).not.toContain('canary');
  });

  it('writes one short line for a terminal', () => {
    const { log, written } = open({ isTTY: true });
    log.warn({ task_id: 'r1', reason: 'two words', error: new Error('boom') }, 'task: left');
    expect(written).toEqual([
      expect.stringMatching(
        /^\d\d:\d\d:\d\d warn {2}task: left task_id=r1 reason="two words" error="Error: boom"\n$/,
      ),
    ]);
  });

  it('emits no text that moves the cursor of a terminal or starts a second line', () => {
    const { log, written } = open({ isTTY: true });
    log.info({ a: '\u001b[2Jx', 'b\u001b[31m': 1 }, 'one\r\ntwo\u001b]0;title\u0007');
    expect(written.join('')).toMatch(/^[^\p{Cc}]*\n$/u);
  });
});
