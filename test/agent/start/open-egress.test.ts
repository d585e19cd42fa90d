import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import type { EgressRecord, EgressScope } from '../../../src/actors/ports/egress.ts';
import { inSpan } from '../../../src/actors/telemetry/spans.ts';
import { readSkills } from '../../../src/actors/tools/skills/skills.ts';
import { type EgressParts, openEgress } from '../../../src/agent/start/open-egress.ts';
import { isWithoutBwrap, needsBwrap } from '../../actors/tools/sandbox/needs-bwrap.ts';
import { startCollector } from '../../helpers/trace-collector.ts';

needsBwrap();

const tool: EgressScope = { taskId: 't1', correlationId: 'c1', tags: {} };

/** So many spans that they are posted at once. */
const batch = 512;

const tools = new Map();

/** Opens the egress of an agent with these settings; it is closed after the test. */
async function open(settings: object, parts: Partial<EgressParts> = {}) {
  const warned: string[] = [];
  const records: EgressRecord[] = [];
  const wayOut = await openEgress({
    config: serviceSchema.parse({ agent_id: 'x', ...settings }),
    toolbox: { tools, skills: [] },
    channels: { slack: null, telegram: null, webhook: null },
    directory: '/',
    writable: [],
    admissionUrl: null,
    isAuthOn: false,
    env: {},
    log: { info() {}, error() {}, warn: (_fields, message) => void warned.push(message) },
    record: (record) => void records.push(record),
    ...parts,
  });
  onTestFinished(() => wayOut[Symbol.asyncDispose]());
  return { ...wayOut, warned, records };
}

describe('the egress of an agent', () => {
  const openToken =
    "scripts run without a sandbox while tools wait for approval: a script could read the operator's token in .service and decide itself; install the package bubblewrap and set egress.sandbox to bwrap";
  const openKey =
    'scripts run as the user of the daemon and can read its environment, the key of the audit log in it; set egress.sandbox to bwrap';
  const without = 'scripts run without a sandbox, with an environment of their own';
  const inside = 'scripts run in a sandbox (bubblewrap)';
  const held = { pay: { to: 'channel:console:*' } };

  it.each([
    ['a signed log', 'env', { enabled: true }, {}, [without, openKey]],
    ['held tools', 'env', {}, { enabled: true, tools: held }, [without, openToken]],
    ['inactive rules', 'env', {}, { enabled: false, tools: held }, [without]],
    ['neither', 'env', {}, {}, [without]],
    ['both', 'bwrap', { enabled: true }, { enabled: true, tools: held }, [inside]],
    ['an automatic choice', undefined, {}, { enabled: true, tools: held }, [inside]],
  ] as const)(
    'reports what isolates scripts, and what they could replace, with %s',
    async (_, sandbox, signing, defer, lines) => {
      if (isWithoutBwrap && sandbox !== 'env') return;
      const said: string[] = [];
      const say = (_fields: object, message: string) => void said.push(message);
      const { skills } = await readSkills(join(import.meta.dirname, '../../../examples/refunds'));
      await open(
        { egress: { sandbox }, audit: { signing }, security: { defer } },
        { toolbox: { tools, skills }, log: { info: say, warn: say, error: say } },
      );
      expect(said).toEqual(lines);
    },
  );

  it.each<[string, object]>([
    ['egress.mode: dev-open', { mode: 'dev-open' }],
    ['egress.allow_private_ips', { allow_private_ips: true }],
    ['egress.allowed_private_cidrs', { allowed_private_cidrs: ['10.0.0.0/8', '127.0.0.0/8'] }],
    ['egress.allowed_private_cidrs', { allowed_private_cidrs: ['::1/128'] }],
    ['egress.allowed_private', { allowed_private: ['10.0.0.1', 'localhost'] }],
    ['egress.allowed_private', { allowed_private: ['[::1]'] }],
  ])('warns while %s permits loopback to tools, with any sign-in', async (setting, egress) => {
    expect((await open({ egress })).warned).toEqual([
      `${setting} opens loopback to tools while authentication is off: tools could approve calls of other agents on this machine that run without authentication; configure auth.providers, or list single endpoints in egress.allowed_private`,
    ]);
    expect((await open({ egress }, { isAuthOn: true })).warned).toEqual([
      `${setting} opens loopback to tools: they reach every program on this machine but this agent, its dashboard and the other agents of its workspace; list single endpoints in egress.allowed_private instead`,
    ]);
  });

  it('warns of a shared store without sign-in', async () => {
    const store = { kind: 'postgres' };
    expect((await open({ store })).warned).toEqual([
      'store: several daemons share the waiting calls in PostgreSQL, and authentication is off: anyone who reaches one of them decides for all; configure auth.providers',
    ]);
    expect((await open({ store }, { isAuthOn: true })).warned).toEqual([]);
  });

  it.each([
    {},
    { mode: 'deny-all', allow_private_ips: true },
    { allowed_private_cidrs: ['10.0.0.0/8', 'fd00::/8'] },
    { allowed_private: ['127.0.0.1:9000'], allowed_domains: ['localhost'] },
  ])('does not warn of loopback with %o', async (egress) => {
    expect((await open({ egress })).warned).toEqual([]);
  });

  it('posts spans as the daemon, whichever task ended the last one', async () => {
    const collector = await startCollector();
    const wayOut = await open({
      version: '1.4.0',
      egress: { mode: 'deny-all' },
      observability: { tracing: { enabled: true, endpoint: collector.url } },
    });
    const { egress, records } = wayOut;
    await egress.within(tool, async () => {
      for (let count = 0; count < batch; count += 1) await inSpan('work', {}, async () => count);
    });
    await wayOut[Symbol.asyncDispose]();
    const daemon: EgressScope = { taskId: null, correlationId: null, tags: {} };
    expect(collector.spans).toHaveLength(batch);
    // The name next to it shows whose version it is.
    expect(collector.posts.map(({ resource }) => resource)).toEqual([
      { 'service.name': 'x', 'service.version': '1.4.0' },
    ]);
    expect(records).toEqual([
      { scope: daemon, domain: '127.0.0.1', mode: 'deny-all', reason: null },
    ]);
  });
});
