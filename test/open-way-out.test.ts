import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serviceSchema } from '../src/actors/config/schema.ts';
import type { EgressRecord, EgressScope } from '../src/actors/ports.ts';
import { readSkills } from '../src/actors/skills/skills.ts';
import { inSpan } from '../src/actors/telemetry/spans.ts';
import { openWayOut } from '../src/open-way-out.ts';
import { takeBack } from '../src/take-back.ts';
import { startCollector } from './helpers/trace-collector.ts';

const quiet = { info() {}, warn() {}, error() {} };
const tool: EgressScope = { taskId: 't1', correlationId: 'c1', tags: {} };

/** So many spans that they are posted at once. */
const batch = 512;

describe('the way out of an agent', () => {
  it.each([
    ['warns where scripts can read the key of the log', 'env', true, 1],
    ['says nothing where they cannot', 'bwrap', true, 0],
    ['says nothing where there is no key', 'env', false, 0],
  ] as const)('%s', async (_, sandbox, enabled, count) => {
    const warned: string[] = [];
    const undo: (() => unknown)[] = [];
    onTestFinished(() => takeBack(undo));
    const audit = { signing: { enabled } };
    const { skills } = await readSkills(join(import.meta.dirname, '../examples/refunds'));
    await openWayOut({
      config: serviceSchema.parse({ agent_id: 'x', egress: { sandbox }, audit }),
      toolbox: { tools: new Map(), skills },
      channels: { slack: null, telegram: null, webhook: null },
      directory: '/',
      admissionUrl: null,
      env: {},
      log: { ...quiet, warn: (_fields, message) => void warned.push(message) },
      record: () => undefined,
      undo,
    });
    expect(warned.filter((message) => message.includes('key of the audit log'))).toHaveLength(
      count,
    );
  });

  it('posts spans on behalf of the daemon, whoever ended the last of them', async () => {
    const collector = await startCollector();
    const records: EgressRecord[] = [];
    const undo: (() => unknown)[] = [];
    onTestFinished(() => takeBack(undo));
    const config = serviceSchema.parse({
      agent_id: 'x',
      egress: { mode: 'deny-all' },
      observability: { tracing: { enabled: true, endpoint: collector.url } },
    });
    const { egress } = await openWayOut({
      config,
      toolbox: { tools: new Map(), skills: [] },
      channels: { slack: null, telegram: null, webhook: null },
      directory: '/',
      admissionUrl: null,
      env: {},
      log: quiet,
      record: (record) => void records.push(record),
      undo,
    });
    await egress.within(tool, async () => {
      for (let count = 0; count < batch; count += 1) await inSpan('work', {}, async () => count);
    });
    await takeBack(undo);
    const daemon: EgressScope = { taskId: null, correlationId: null, tags: {} };
    expect(collector.spans).toHaveLength(batch);
    expect(records).toEqual([
      { scope: daemon, domain: '127.0.0.1', mode: 'deny-all', reason: null },
    ]);
  });
});
