import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { presentOutcome } from '../../src/http/wire/settlement.ts';
import { limitJson } from '../../src/machines/governance/limit-json.ts';
import { aMeasuredLimit, anOpenOutcome } from '../helpers/limit-fixtures.ts';
import { listenOnLoopback } from '../helpers/listen-on-loopback.ts';
import { holdpointHere } from './command-here.ts';

const statement = { ran: false, by: 'ann', reason: 'not at the bank', at: 3_000 };
const open = presentOutcome(anOpenOutcome());
const settled = presentOutcome(anOpenOutcome({ settled: statement }));
const contradicted = presentOutcome(
  anOpenOutcome({ callId: 'call-2', settled: { ...statement, contradictedAt: 4_000 } }),
);

const answers: Record<string, [status: number, body: object]> = {
  'GET /limits': [200, { limits: [limitJson(aMeasuredLimit())] }],
  'GET /limits/settlements?state=open&limit=500': [200, { outcomes: [open], next_cursor: '7' }],
  'GET /limits/settlements?state=open&limit=500&cursor=7': [
    200,
    { outcomes: [{ ...open, call_id: 'call-2', requested_by: null }] },
  ],
  'GET /limits/settlements?state=settled&limit=500': [200, { outcomes: [settled, contradicted] }],
  'POST /limits/settlements': [200, settled],
};

/** Runs a command against an agent with these answers; returns its end and the bodies that the agent received. */
async function run(args: string[], own: typeof answers = {}) {
  const bodies: unknown[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const sent = await text(request);
    if (sent !== '') bodies.push(JSON.parse(sent));
    const known = { ...answers, ...own };
    const [status, body] = known[`${request.method} ${request.url}`] ?? [404, { error: 'nothing' }];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response));
  const url = await listenOnLoopback(server);
  const { code, stdout, stderr } = await holdpointHere([...args, '--url', url, '--no-color'], {
    env: { SERVICE_TOKEN: 'a-token-0123456789' },
  });
  return { code, stdout, stderr, bodies };
}

describe('holdpoint limits', () => {
  it('prints each limit with what is used, reserved and left', async () => {
    expect(await run(['limits'])).toEqual({
      code: 0,
      stdout:
        'refunds_a_day for caller rita@example.com  4,200 of 5,000 used in the last 24 h, 300 reserved, 500 left\n',
      ...{ stderr: '', bodies: [] },
    });
    const { stdout } = await run(['limits', '--json']);
    expect(JSON.parse(stdout)).toEqual({ limits: [limitJson(aMeasuredLimit())] });
  });

  it('says that there are none', async () => {
    const none = await run(['limits'], { 'GET /limits': [200, { limits: [] }] });
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'the agent has no limits\n' });
  });

  it('lists all calls whose outcome nobody knows, and those that were settled', async () => {
    const at = '1970-01-01T00:00:02.000Z';
    expect((await run(['limits', 'unknown'])).stdout).toBe(
      `call-1  issue_refund  task t-1  ${at}  by rita@example.com
call-2  issue_refund  task t-1  ${at}  by an anonymous caller
`,
    );
    expect((await run(['limits', 'unknown', '--settled'])).stdout).toBe(
      `call-1  issue_refund  task t-1  ${at}  by rita@example.com: did not run, says ann: not at the bank
call-2  issue_refund  task t-1  ${at}  by rita@example.com: did not run, says ann: not at the bank; reported as succeeded 1970-01-01T00:00:04.000Z
`,
    );
    const { stdout } = await run(['limits', 'unknown', '--json']);
    expect(JSON.parse(stdout).outcomes).toHaveLength(2);
  });
});

describe.each(['limits', 'effects'])('holdpoint %s settle', (command) => {
  const settle = [command, 'settle', 'call-1', '--reason', 'not at the bank'];

  it('states that the call did not run, with the name of the person', async () => {
    expect(await run([...settle, '--not-run', '--approver', 'ann'])).toEqual({
      ...{ code: 0, stdout: 'issue_refund (call-1) did not run, and counts no more\n', stderr: '' },
      bodies: [{ call_id: 'call-1', ran: false, reason: 'not at the bank', approver: 'ann' }],
    });
  });

  it('states that the call ran', async () => {
    const { stdout, bodies } = await run([...settle, '--ran']);
    expect(stdout).toBe('issue_refund (call-1) ran, and counts\n');
    expect(bodies).toEqual([expect.objectContaining({ ran: true, approver: expect.any(String) })]);
  });

  it.each<[string[], string]>([
    [['--reason', 'a'], 'give either --ran or --not-run'],
    [['--reason', 'a', '--ran', '--not-run'], 'give either --ran or --not-run'],
    [['--ran'], '--reason must say why you are certain'],
    [['--ran', '--reason', ' '], '--reason must say why you are certain'],
  ])('refuses %j', async (flags, message) => {
    const { code, stderr, bodies } = await run([command, 'settle', 'call-1', ...flags]);
    expect([code, stderr, bodies]).toEqual([2, expect.stringContaining(message), []]);
  });

  it.each([
    [403, 4],
    [404, 3],
    [409, 1],
  ])('exits at status %i with %i', async (status, code) => {
    const refused = { error: 'no', code: 'outcome_not_found' };
    const ended = await run([...settle, '--ran'], {
      'POST /limits/settlements': [status, refused],
    });
    expect(ended.code).toBe(code);
  });
});
