import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdpointHere } from '../command-here.ts';
import { cleanUp, refundAgent } from '../holdpoint.ts';

afterAll(cleanUp);

const service = `agent_id: refunds
model: {provider: scripted, name: demo}
security:
  defer:
    enabled: true
    tools:
      # Refunds are asked for.
      issue_refund: {to: "channel:console:*"}
      lookup_order: {to: "channel:console:*", never_remember: true}
      close_account: {optional: true, to: "channel:console:*", approvers: [ann@example.com], require_passkey: true}
approvals:
  public_url: https://approvals.example.com
  sign_in: {issuer: "https://id.example.com", client_id: holdpoint}
auth:
  providers: [{type: static_token, name: shop, settings: {token: of-the-shop, identity: {user_id: shop}}}]
`;

interface Asked {
  tool?: string;
  amount: string;
  end?: string;
  change?: object;
  args?: object;
  /** True by default for an approved call. */
  isReleased?: boolean;
}

/** The lines of a call that waited, of the decision, and of its run. */
function wait(
  { tool = 'issue_refund', amount, end, change = {}, args, isReleased = end === 'approve' }: Asked,
  index: number,
) {
  const fields = { deferral_id: `d-${index}`, tool };
  const line = (event: string, more: object) =>
    JSON.stringify({ ts: '2026-11-20T09:00:00.000Z', event, fields: { ...fields, ...more } });
  const asked = args ?? {
    args: JSON.stringify({ order_id: `A-${index}`, amount: Number(amount) }),
  };
  return [
    line('task_deferred', asked),
    ...(end === undefined ? [] : [line('hold_deferred_decision', { decision: end, ...change })]),
    ...(isReleased ? [line(index % 2 === 0 ? 'hold_released' : 'tool_exec', {})] : []),
  ];
}

async function suggested(waits: readonly Asked[], ...flags: string[]) {
  const dir = await refundAgent(service);
  await mkdir(join(dir, '.service'), { recursive: true });
  const lines = waits.flatMap(wait).map((line) => `${line}\n`);
  await writeFile(join(dir, '.service/audit.ndjson'), lines.join(''));
  const from = ['--from', '2026-11-01T00:00:00Z'];
  const command = ['policy', 'suggest', ...flags, ...from, '--dir', dir, '--no-color'];
  return { dir, ...(await holdpointHere(command)) };
}

const small = ['5', '8.50', '12', '20', '35'].map((amount) => ({ amount, end: 'approve' }));
const decided = [...small, { amount: '800', end: 'reject' }, { amount: '30' }];

describe('policy suggest', () => {
  it('suggests what people approved, and shows the calls that it would have released', async () => {
    const { code, stdout, stderr } = await suggested(decided);

    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `issue_refund
  - {when: "double(args.amount) >= 5.0 && double(args.amount) <= 35.0 && !has(args.currency) && !has(args.reason)", allow: true}
    would have released 5 of 5 approved calls, none of 1 rejected, 1 of 1 without a decision
    does not limit args.order_id
`,
      stderr: '',
    });
  });

  it('writes the rule before the others, and changes no other line', async () => {
    const file = join(await refundAgent(service), 'changed.yaml');
    const { code } = await suggested(decided, 'issue_refund', '-o', file);

    expect(code).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(
      service.replace(
        '{to: "channel:console:*"}\n',
        '[{when: double(args.amount) >= 5.0 && double(args.amount) <= 35.0 && !has(args.currency) && !has(args.reason), allow: true}, {to: channel:console:*}]\n',
      ),
    );
  });

  it('does not count a changed call, a refused decision and a late approval', async () => {
    const { stdout } = await suggested([
      ...small.slice(0, 4),
      { amount: '6', end: 'approve', change: { edited_args_sha256: 'ab' } },
      { amount: '7', end: 'approve', change: { authorized: false } },
    ]);

    expect(stdout).toBe('no condition covers 5 approved calls of a tool and no rejected one\n');
  });

  it('does not count one approval of several for a call that never ran', async () => {
    const { stdout } = await suggested([
      ...small.slice(0, 4),
      { amount: '15', end: 'approve', isReleased: false },
    ]);

    expect(stdout).toBe('no condition covers 5 approved calls of a tool and no rejected one\n');
  });

  it.each(['lookup_order', 'close_account'])(
    'suggests nothing for %s, whose approvals are never remembered',
    async (tool) => {
      const { stdout } = await suggested(small.map((one) => ({ ...one, tool })));

      expect(stdout).toBe('no condition covers 5 approved calls of a tool and no rejected one\n');
    },
  );

  it('names the setting that records arguments, where the log has none', async () => {
    const { stderr, stdout } = await suggested([{ amount: '5', end: 'approve', args: {} }]);

    expect(stdout).toBe('no condition covers 5 approved calls of a tool and no rejected one\n');
    expect(stderr).toBe(
      '1 held call has no arguments in the log; audit.capture.tool_args records those of later calls\n',
    );
  });

  it('writes no file without a condition, nor for all tools at once', async () => {
    const file = join(await refundAgent(service), 'changed.yaml');
    const none = await suggested([], 'issue_refund', '-o', file);
    const all = await suggested(decided, '-o', file);

    expect([none.code, none.stderr]).toEqual([
      3,
      'error: there is no condition to write; read more of the log with --from, or accept fewer calls with --least\n',
    ]);
    expect([all.code, all.stderr]).toEqual([
      2,
      'error: a file is written for one tool; name the tool: policy suggest TOOL -o FILE\n',
    ]);
    await expect(readFile(file)).rejects.toThrow('ENOENT');
  });
});
