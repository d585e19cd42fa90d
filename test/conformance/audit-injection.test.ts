import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatEvent, type RecordedEvent } from '../../src/actors/records/log/audit.ts';
import { legible, oneLine } from '../../src/machines/legible.ts';
import { playing } from '../helpers/agent-client.ts';
import { readLog, verifyKept } from '../helpers/kept-log.ts';
import { rawRequest } from '../helpers/raw-request.ts';
import { deferring, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const forged = '{"event":"forged","ts":"2026-07-01T09:00:00.000Z"}';

/** Pieces that would break a line, draw on a terminal or pass for a line of their own. */
const pieces = [
  '\n',
  '\r\n',
  '\u0000',
  '\u001b[2J\u001b]0;title\u0007',
  '\u009b1m',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u202e',
  '\ufeff',
  '\ud800',
  '\udfff',
  '"',
  '\\',
  '\\n',
  '\\u000a',
  `\n${forged}\n`,
  `"}\n${forged}`,
  '__proto__',
  '🧾',
];

const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 5 })), {
    minLength: 1,
    maxLength: 6,
  })
  .map((parts) => parts.join(''));

/** What no terminal and no reader of a line should get; JSON escapes the others by itself. */
const unprintable =
  /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]|(?<!\\)(?:\\\\)*\\u(?:00[01]|[dD][89a-fA-F])/u;

/** Expects every line of the log to hold one event of this daemon, in an intact chain. */
async function expectOneEventALine({ auditPath }: TestAgent): Promise<RecordedEvent[]> {
  const text = readLog(auditPath);
  const lines = text.split('\n').slice(0, -1);
  const events = lines.map((line) => JSON.parse(line) as RecordedEvent);
  expect(await verifyKept(auditPath)).toMatchObject({ ok: true, events: events.length });
  // RFC 8785 escapes the controls below U+0020 alone.
  expect(text.replaceAll('\n', '')).not.toMatch(/[^\P{Cc}\u007f-\u009f]/u);
  expect(events.map(({ event }) => event)).not.toContain('forged');
  for (const event of events) {
    expect(formatEvent(event)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
  }
  return events;
}

describe('any text of a caller', () => {
  it('is one event per line, in the note, the approver, the arguments and the result', async () => {
    const capture = { tool_args: true, tool_result: true, llm_messages: true };
    const agent = await startTestAgent({ ...deferring(), audit: { capture } }, { noAuth: true });
    let runs = 0;
    // A body with this key is refused before there is a task.
    const key = hostile.filter((text) => text !== '__proto__');
    const inputs = [hostile, hostile, key, fc.constantFrom('approve', 'reject')] as const;
    await fc.assert(
      fc.asyncProperty(...inputs, async (note, approver, argument, decision) => {
        runs += 1;
        const id = `t${runs}`;
        const script = [{ tool: 'pay', args: { [argument]: argument } }, { say: argument }];
        const sent = agent.send(id, script);
        await agent.reached(id, 'deferred');
        const decided = await agent.decide(id, { decision, note, approver });
        expect(decided.status).toBe(200);
        await sent;
        const events = agent.audit(id);
        const names = [
          ...['session_start', 'llm_call', 'call_ruled'],
          ...['task_deferred', 'task_deferred_decision'],
        ];
        const ran = ['tool_exec', 'tool_exec', 'llm_call'];
        expect(events.map(({ event }) => event)).toEqual([
          ...names,
          ...(decision === 'approve' ? ran : []),
          'session_end',
        ]);
        expect(events[4]?.fields).toMatchObject({ decision });
        expect(events[4]?.fields).toMatchObject({
          note: legible(note).trim(),
          approver: oneLine(approver),
        });
        const task = JSON.stringify((await agent.get(`/tasks/${id}`)).body.status);
        if (decision === 'reject') expect(task).not.toMatch(unprintable);
      }),
      { numRuns: 25 },
    );
    const events = await expectOneEventALine(agent);
    expect(new Set(events.map(({ task_id }) => task_id).filter(Boolean)).size).toBe(runs);
  });

  it('is one event per line, in refused decisions, sends and reads', async () => {
    const agent = await startTestAgent({}, { noAuth: true });
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const path = encodeURIComponent(text.toWellFormed());
        await agent.post(`/tasks/${path}/decisions`, { decision: text, note: text });
        await agent.post('/tasks/send', { id: text, message: text });
        await agent.rpc(text, { id: text }, text);
        await agent.get(`/tasks/${path}`);
      }),
      { numRuns: 25 },
    );
    const events = await expectOneEventALine(agent);
    expect([...new Set(events.map(({ event }) => event))]).toEqual([
      'policy_loaded',
      'agent_card_published',
    ]);
  });

  it('is one event per line, in the path and the headers of a refused caller', async () => {
    const agent = await startTestAgent({ auth: { required: true } });
    // Each at a separate step, since those of one workflow are reported as one.
    const requests = pieces.flatMap((piece, index) => [
      `GET /tasks/${encodeURI(piece.toWellFormed())}%0a%1b[2J HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Workflow-Step-ID: path-${index}\r\n\r\n`,
      `GET /tasks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Workflow-Step-ID: tag-${index}\r\nX-Workflow-ID: a${piece}b\r\n\r\n`,
      `GET /tasks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Workflow-Step-ID: id-${index}\r\nX-Correlation-ID: a${piece}b\r\n\r\n`,
    ]);
    for (const request of requests) await rawRequest(agent.url, request);
    const events = await expectOneEventALine(agent);
    const failed = events.filter(({ event }) => event === 'auth_fail');
    expect(failed.length).toBeGreaterThan(pieces.length);
    expect(failed.length).toBe(events.length - 2);
  });

  it('is one event per line, in the name of a tool', async () => {
    const agent = await startTestAgent({}, { noAuth: true });
    const message = playing([{ tool: '\u001b[2J\npay', args: {} }]);
    await agent.post('/tasks/send', { id: 't1', message });
    await expectOneEventALine(agent);
  });
});
