import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  auditEventOf,
  type CaptureSettings,
  createCapture,
  longestCapture,
} from '../../../../src/actors/records/log/audit.ts';
import type { TaskFact } from '../../../../src/machines/domain/facts.ts';
import type { Deferral, Message } from '../../../../src/machines/domain/task.ts';

const nothing: CaptureSettings = {
  tool_args: false,
  tool_result: false,
  llm_messages: false,
  max_bytes: longestCapture,
};

const everything: CaptureSettings = {
  ...nothing,
  tool_args: true,
  tool_result: true,
  llm_messages: true,
};

const hide = (text: string) => text.replaceAll(/\bkey-\w+/g, '[hidden]');

function capturing(fact: TaskFact, change: Partial<CaptureSettings> = {}, scrub = hide) {
  return createCapture({ ...everything, ...change }, () => scrub)?.(fact);
}

function started(args: Extract<TaskFact, { type: 'tool.started' }>['args']): TaskFact {
  return { type: 'tool.started', call: {}, tool: 'pay', argsSize: 13, args };
}

function opened(args: Deferral['args']): TaskFact {
  const deferral = { id: 'd-1', tool: 'pay', args } as Deferral;
  return { type: 'deferral.opened', deferral, requester: null };
}

function ended(result: string): TaskFact {
  return {
    type: 'tool.ended',
    outcome: 'succeeded',
    call: {},
    tool: 'pay',
    duration: 1,
    argsSize: 13,
    resultSize: 2,
    result,
  };
}

const call = { id: 'c-1', tool: 'pay', args: { amount: 10 }, argsSha256: 'ab' };

const called: Extract<TaskFact, { type: 'model.called' }> = {
  type: 'model.called',
  provider: 'scripted',
  model: 'demo',
  duration: 1,
  inputTokens: 0,
  outputTokens: 0,
  heard: {
    request: { role: 'user', parts: [{ kind: 'text', text: 'pay ann' }], messageId: 'm' },
    exchanges: [],
    followUps: [],
  },
  said: { text: '', calls: [call] },
};

describe('createCapture', () => {
  it('is undefined while nothing is captured', () => {
    expect(
      createCapture(nothing, () => {
        throw new Error('nothing is scrubbed');
      }),
    ).toBeNull();
  });

  it.each<[string, TaskFact, object]>([
    ['tool_args', started({ amount: 10 }), { args: '{"amount":10}' }],
    ['tool_args', opened({ amount: 10 }), { args: '{"amount":10}' }],
    ['tool_result', ended('ok'), { result: 'ok' }],
    [
      'llm_messages',
      called,
      {
        messages:
          '[{"role":"user","parts":[{"kind":"text","text":"pay ann"}]},' +
          '{"role":"agent","calls":[{"id":"c-1","tool":"pay","args":{"amount":10}}]}]',
      },
    ],
  ])('captures what %s names and nothing else', (name, fact, contents) => {
    expect(capturing(fact)).toStrictEqual(contents);
    expect(capturing(fact, { [name]: false })).toStrictEqual({});
    expect(createCapture({ ...nothing, [name]: true }, () => hide)?.(fact)).toStrictEqual(contents);
  });

  it('contains messages during a wait after the result of the call', () => {
    const followUp: Message = {
      role: 'user',
      parts: [{ kind: 'text', text: 'hurry' }],
      messageId: 'm-2',
    };
    const heard = { request: null, exchanges: [{ call, result: 'paid' }], followUps: [followUp] };
    expect(capturing({ ...called, heard, said: null, error: 'no quota' })).toStrictEqual({
      messages:
        '[{"role":"tool","id":"c-1","tool":"pay","content":"paid"},' +
        '{"role":"user","parts":[{"kind":"text","text":"hurry"}]}]',
    });
  });

  it('contains the results that the model received, and its answer', () => {
    const heard = { request: null, exchanges: [{ call, result: 'paid' }], followUps: [] };
    expect(capturing({ ...called, heard, said: { text: 'done', calls: [] } })).toStrictEqual({
      messages:
        '[{"role":"tool","id":"c-1","tool":"pay","content":"paid"},{"role":"agent","text":"done"}]',
    });
    expect(capturing({ ...called, heard, said: null, error: 'no quota' })).toStrictEqual({
      messages: '[{"role":"tool","id":"c-1","tool":"pay","content":"paid"}]',
    });
  });

  it('contains the error text of a failed call in place of a result, and nothing of other facts', () => {
    const { result: _, ...bare } = ended('') as Extract<TaskFact, { type: 'tool.ended' }>;
    const failed = { ...bare, error: 'exit code 1', complaint: 'no key-1' };
    expect(capturing(failed)).toStrictEqual({ error: 'no [hidden]' });
    expect(capturing(failed, { tool_result: false })).toStrictEqual({});
    expect(capturing({ ...bare, error: 'canceled: timeout' })).toStrictEqual({});
    expect(capturing({ type: 'session.started', requester: null })).toStrictEqual({});
  });

  it('redacts before it cuts, and states the size of the original', () => {
    const result = `${'x'.repeat(40)} key-${'s'.repeat(100)} end`;
    expect(capturing(ended(result), { max_bytes: 50 })).toStrictEqual({
      result: `${'x'.repeat(26)} [cut: 149 bytes in all]`,
    });
    expect(capturing(ended(result), { max_bytes: 80 })).toStrictEqual({
      result: `${'x'.repeat(40)} [hidden] end`,
    });
  });

  it('finds a secret behind a JSON escape, in a key and across key and value', () => {
    const scrub = (text: string) =>
      text.replaceAll(/\bkey-\w+/g, '[hidden]').replace('"pin":"1234"', '"pin":"[hidden]"');
    const args = { a: 'one\nkey-2', 'key-3': ['x"key-4'], pin: '1234' };
    expect(capturing(started(args), {}, scrub)).toStrictEqual({
      args: '{"a":"one\\n[hidden]","[hidden]":["x\\"[hidden]"],"pin":"[hidden]"}',
    });
  });

  it('omits a string that could not be searched', () => {
    const scrub = () => {
      throw new Error('out of memory');
    };
    const left = '[omitted: the search for secrets failed]';
    expect(capturing(ended('ok'), {}, scrub)).toStrictEqual({ result: left });
    expect(capturing(started({}), {}, scrub)).toStrictEqual({ args: left });
  });

  it('keeps no more than a log line could, with any maximum', () => {
    const { result = '' } = capturing(ended('x'.repeat(40_000)), { max_bytes: 1_000_000 }) ?? {};
    const marker = ' [cut: 40000 bytes in all]';
    expect(result).toBe(`${'x'.repeat(longestCapture - marker.length)}${marker}`);
  });

  it('searches 128 KiB more than it shows, and no more', () => {
    const looked = 100 + 128 * 1024;
    const secret = (length: number) => `key-${'x'.repeat(length - 4)}`;
    const of = (result: string) => capturing(ended(result), { max_bytes: 100 });
    expect(of(secret(looked))).toStrictEqual({ result: '[hidden]' });
    expect(of(secret(looked + 1))).toStrictEqual({ result: ` [cut: ${looked + 1} bytes in all]` });
    expect(of(`pay ${secret(looked - 4)} `)).toStrictEqual({
      result: ` [cut: ${looked + 1} bytes in all]`,
    });
    const lengths: number[] = [];
    const scrub = (text: string) => {
      lengths.push(text.length);
      return text;
    };
    capturing(ended('x'.repeat(3 * looked)), { max_bytes: 100 }, scrub);
    expect(lengths).toEqual([looked]);
  });

  it('states the size of arguments as JSON, including secrets', () => {
    const args = { note: 'zu spät', pin: `key-${'x'.repeat(60)}`, more: 'y'.repeat(60) };
    expect(Buffer.byteLength(JSON.stringify(args))).toBe(162);
    expect(capturing(started(args), { max_bytes: 60 })).toStrictEqual({
      args: '{"note":"zu spät","pin":"[hidden]", [cut: 162 bytes in all]',
    });
  });

  it('searches texts behind escapes one by one until it has more than it shows', () => {
    const looked: string[] = [];
    const scrub = (text: string) => {
      looked.push(text);
      return text;
    };
    const list = Array.from({ length: 9 }, () => '"'.repeat(30));
    capturing(started({ list: ['plain', ...list] }), { max_bytes: 60 }, scrub);
    expect(looked.slice(0, -1)).toEqual(list.slice(0, 3));
    expect(looked.at(-1)).toBe(JSON.stringify({ list: ['plain', ...list.fill('[left out]', 3)] }));
  });

  it('shows no part of a secret at the end of the searched part', () => {
    for (let shift = 0; shift < 40; shift += 1) {
      const secret = `key-${'7'.repeat(30)}`;
      const before = ' key-1'.repeat(25_000);
      const result = `${before.slice(0, longestCapture + 128 * 1024 - shift)} ${secret}`;
      expect(capturing(ended(result), {}, hide)?.result).not.toContain('777');
    }
  });

  it('omits texts when there are more than it could search', () => {
    const args = { list: Array.from({ length: 1_002 }, () => '"') };
    const { args: captured = '' } = capturing(started(args)) ?? {};
    expect(captured).toBe(
      JSON.stringify({ list: [...Array(1_000).fill('"'), '[left out]', '[left out]'] }),
    );
  });

  it('never exceeds its bytes, splits a code point or throws', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 400 }), (result, max_bytes) => {
        const { result: kept = '' } = capturing(ended(result), { max_bytes }, (same) => same) ?? {};
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(max_bytes);
        expect(kept.isWellFormed()).toBe(true);
        const size = Buffer.byteLength(result);
        const marker = ` [cut: ${size} bytes in all]`;
        const whole = result.toWellFormed();
        if (size <= max_bytes) expect(kept).toBe(whole);
        else expect(whole.startsWith(kept.slice(0, -marker.length))).toBe(true);
      }),
    );
  });
});

describe('auditEventOf with a capture', () => {
  const envelope = { ts: '2026-07-01T09:00:00.000Z', task_id: 't-1' };

  it('adds contents to the other fields, and none without it', () => {
    const event = { ...envelope, event: 'tool_exec' };
    const fields = { tool: 'pay', phase: 'start', args_size: 13 };
    const fact = started({ amount: 10 });
    expect(auditEventOf(fact, envelope)).toStrictEqual({ ...event, fields });
    expect(
      auditEventOf(fact, envelope, { capture: createCapture(everything, () => hide) }),
    ).toStrictEqual({
      ...event,
      fields: { ...fields, args: '{"amount":10}' },
    });
  });
});
