import { cpSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/actors/ports/clock.ts';
import { type Tool, ToolError } from '../../src/actors/ports/tool.ts';
import { createToolbox } from '../../src/actors/tools/tools.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';

const example = join(import.meta.dirname, '../../examples/refunds');
const clock: Clock = {
  now: Date.now,
  setTimeout: (run, milliseconds) => setTimeout(run, milliseconds),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

let directory: string;
let tools: Map<string, Tool>;

beforeEach(async () => {
  directory = realpathSync(agentFolder({}));
  cpSync(example, directory, { recursive: true });
  const config = load(readFileSync(join(example, 'service.yaml'), 'utf8')) as {
    builtin_tools: string[];
    skills: { path: string };
  };
  const toolbox = await createToolbox({
    directory,
    config: { tools: [], ...config },
    env: {},
    clock,
  });
  expect([toolbox.problems, toolbox.warnings]).toEqual([[], []]);
  tools = toolbox.tools;
});

async function call(
  name: string,
  args: JsonObject,
  callId = 'c1',
  taskId = 't1',
): Promise<JsonObject> {
  const signal = new AbortController().signal;
  const result = await tools
    .get(name)
    ?.run(args, { taskId, callId, correlationId: 'x', credential: null, tags: {}, signal });
  return JSON.parse(result ?? '') as JsonObject;
}

const orders = () => readFileSync(join(directory, 'data/orders.csv'), 'utf8');
const lineOf = (id: string) =>
  orders()
    .split('\n')
    .find((line) => line.startsWith(`${id},`));

describe('the refunds example', () => {
  it('offers two tools that may run again, and a policy', () => {
    expect([...tools.values()].map(({ name, idempotent }) => [name, idempotent])).toEqual([
      ['datetime_now', true],
      ['lookup_order', true],
      ['issue_refund', true],
    ]);
  });

  it('holds the tool that pays, and its script calls existing tools', () => {
    const config = load(readFileSync(join(example, 'service.yaml'), 'utf8')) as {
      model: { script: { tool?: string; say?: string }[] };
      security: { defer: { enabled: boolean; tools: Record<string, { to: string }> } };
    };
    expect(config.security.defer.enabled).toBe(true);
    expect(Object.keys(config.security.defer.tools)).toEqual(['issue_refund']);
    expect(config.model.script.map((step) => step.tool ?? 'say')).toEqual([
      'lookup_order',
      'issue_refund',
      'say',
    ]);
  });

  it('looks up an order whose fields contain commas', async () => {
    expect(await call('lookup_order', { order_id: 'A-1044' })).toEqual({
      order_id: 'A-1044',
      customer: 'Lindqvist, Maja',
      email: 'maja.lindqvist@example.com',
      item: 'Linen tablecloth, 2 m',
      quantity: 2,
      amount: 109,
      currency: 'EUR',
      ordered_at: '2026-07-21T08:27:00.000Z',
      status: 'delivered',
    });
  });

  it('refunds an order and changes nothing else in the file', async () => {
    const before = orders();
    const reason = 'arrived "broken", sadly';
    const args = { order_id: 'A-1042', amount: 89.9, currency: 'EUR', reason };
    const refund = await call('issue_refund', args);
    expect(refund).toEqual({
      refund_id: expect.stringMatching(/^R-[0-9a-f]{12}$/),
      order_id: 'A-1042',
      amount: 89.9,
      currency: 'EUR',
      customer: 'Aino Korhonen',
      refunded_at: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const line = `A-1042,Aino Korhonen,aino.korhonen@example.com,"Desk lamp, brass",1,89.90,EUR,2026-07-20T02:59:00.000Z`;
    expect(orders()).toBe(
      before.replace(
        `${line},delivered,,,,\n`,
        `${line},refunded,${refund['refund_id']},89.90,"arrived ""broken"", sadly",${refund['refunded_at']}\n`,
      ),
    );
    expect(await call('lookup_order', { order_id: 'A-1042' })).toMatchObject({
      refund_reason: reason,
    });
    expect(readdirSync(join(directory, 'data'))).toEqual(['orders.csv']);
  });

  it('pays the whole amount by default, or a part', async () => {
    expect((await call('issue_refund', { order_id: 'A-1042' }))['amount']).toBe(89.9);
    expect((await call('issue_refund', { order_id: 'A-1044', amount: 9.5 }))['amount']).toBe(9.5);
  });

  it('answers a repeated call with the same refund', async () => {
    const first = await call('issue_refund', { order_id: 'A-1042' });
    const after = orders();
    expect(await call('issue_refund', { order_id: 'A-1042' })).toEqual(first);
    expect(orders()).toBe(after);
  });

  it.each([
    ['another call', 'c2', 't1'],
    ['the same call id of another task', 'c1', 't2'],
  ])('refuses a second refund by %s', async (_case, callId, taskId) => {
    const { refund_id: refundId } = await call('issue_refund', { order_id: 'A-1042' });
    await expect(call('issue_refund', { order_id: 'A-1042' }, callId, taskId)).rejects.toThrow(
      new RegExp(
        `^issue_refund failed with exit code 1: order A-1042 was already refunded on .* \\(${refundId}\\); an order is refunded once$`,
      ),
    );
  });

  it.each<[JsonObject, string]>([
    [
      { order_id: 'A-1042', amount: 89.91 },
      'issue_refund failed with exit code 1: 89.91 EUR is more than the 89.90 EUR paid for order A-1042',
    ],
    [{ order_id: 'A-1042', amount: 0 }, 'issue_refund: argument amount must be > 0'],
    [
      { order_id: 'A-1043' },
      'issue_refund failed with exit code 1: order A-1043 is processing; only shipped and delivered orders are refunded',
    ],
    [
      { order_id: 'A-9999' },
      'issue_refund failed with exit code 1: there is no order A-9999; check the number',
    ],
    [
      { order_id: 'A-1042', amount: 5.001 },
      'issue_refund failed with exit code 1: "5.001" is not an amount; write it like 89.90',
    ],
    [
      { order_id: 'A-1042', amount: 5, currency: 'GBP' },
      'issue_refund failed with exit code 1: order A-1042 was paid in EUR, not in GBP',
    ],
    [{ order_id: 'A-1042', amount: '5' }, 'issue_refund: argument amount must be number'],
  ])('refuses %j and does not change the orders', async (args, message) => {
    const before = orders();
    await expect(call('issue_refund', args)).rejects.toThrow(new ToolError(message));
    expect(orders()).toBe(before);
  });

  it('loses none of several concurrent refunds', async () => {
    const ids = ['A-1001', 'A-1042', 'A-1044', 'A-1046'];
    await Promise.all(ids.map((id) => call('issue_refund', { order_id: id }, `call-${id}`)));
    for (const id of ids) expect(lineOf(id)).toContain(',refunded,R-');
    expect(orders().split('\n')).toHaveLength(302);
  });

  it('pays an order once for several concurrent calls', async () => {
    const calls = ['c1', 'c2', 'c3'].map((id) => call('issue_refund', { order_id: 'A-1042' }, id));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('reports broken orders', async () => {
    writeFileSync(
      join(directory, 'data/orders.csv'),
      'order_id,customer\nA-1042,"Aino" Korhonen\n',
    );
    await expect(call('lookup_order', { order_id: 'A-1042' })).rejects.toThrow(
      'lookup_order failed with exit code 1: the CSV is broken near character',
    );
  });
});
