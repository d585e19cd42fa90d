import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentFiles } from '../../../src/dashboard/reading/agent-files.ts';
import { auditReader } from '../../../src/dashboard/reading/audit-reader.ts';
import { policyOf } from '../../../src/dashboard/reading/policy-of.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const url = 'https://platform.example.com/v1/admission';

function folderWith(service = ''): string {
  const directory = temporaryFolder();
  mkdirSync(join(directory, '.service'));
  writeFileSync(join(directory, 'service.yaml'), `agent_id: till\n${service}`);
  return directory;
}

async function policy(directory: string, env: NodeJS.ProcessEnv = {}) {
  const found = await agentFiles(env, auditReader(env)).policy(directory);
  if (found === null) throw new Error('service.yaml cannot be used');
  return found;
}

function logged(directory: string, ...records: object[]): void {
  const path = join(directory, '.service/serve.log');
  for (const record of records) appendFileSync(path, `${JSON.stringify(record)}\n`);
}

const held = (rule: string): string =>
  `builtin_tools: [datetime_now]\nsecurity: {defer: {enabled: true, tools: {datetime_now: ${rule}}}}\n`;

/** Every warning at the start of an agent. */
describe('the policy of an agent warns', () => {
  it.each([
    ['SERVICE_PLATFORM_TOKEN', 'SERVICE_ADMISSION_URL', { SERVICE_ADMISSION_URL: url }],
    ['SERVICE_ADMISSION_URL', 'SERVICE_PLATFORM_TOKEN', { SERVICE_PLATFORM_TOKEN: 'of-us' }],
  ])('that admission is off without %s (section 2.6)', async (missing, present, env) => {
    const { admission, warnings } = await policy(folderWith(), env);
    expect(admission).toEqual({ enabled: false });
    expect(warnings).toEqual([
      `admission: off, because ${missing} is not set; set it, or unset ${present}`,
    ]);
  });

  it('that admission has an address with which no call can be made', async () => {
    const { warnings } = await policy(folderWith(), {
      SERVICE_ADMISSION_URL: 'platform',
      SERVICE_PLATFORM_TOKEN: 'of-us',
    });
    expect(warnings).toEqual([
      'SERVICE_ADMISSION_URL is not an http or https URL; write one such as https://platform.example.com/v1/admission',
    ]);
  });

  it.each([
    [
      'of an approver that can never match (section 4.3)',
      '{to: "channel:console:*", approvers: [ann, bo@example.com]}',
      'is not an email, so it can never match and locks that person out',
    ],
    [
      'of a wait longer than a chat waits (section 8)',
      '{to: "channel:slack:#till", timeout: 10m}',
      'is longer than the 6m0s that a channel waits for an answer',
    ],
    [
      'of a target whose adapter does not run (section 8.1)',
      '{to: "channel:slack:#till", timeout: 5m}',
      'the slack adapter is not in channels, so no approver is notified',
    ],
  ])('%s', async (_, rule, sentence) => {
    const { warnings } = await policy(folderWith(held(rule)));
    expect(warnings.filter((warning) => warning.includes(sentence))).toHaveLength(1);
  });
});

describe('the policy of an agent shows', () => {
  it('the approvers, the quorum, the deadline, and the sign-in level', async () => {
    const rule =
      '{to: "channel:console:*", timeout: 4m, approvers: [ann@example.com, ben@example.com], quorum: 2, four_eyes: true, escalate_to: "channel:console:managers"}';
    const directory = folderWith(
      held(rule).replace(
        'security: {',
        'auth: {providers: [{type: oidc, name: staff, settings: {issuer: "https://login.example.com", audience: till}}]}\nsecurity: {step_up: {enabled: true, tools: {datetime_now: gold}, acr_hierarchy: [silver, gold]}, ',
      ),
    );
    const { tools, auth, egress } = await policy(directory);
    expect(tools).toEqual([
      {
        ...{ name: 'datetime_now', origin: 'builtin', acr: 'gold', timeout: '4m0s', quorum: 2 },
        ...{ approvers: ['ann@example.com', 'ben@example.com'] },
        demands: ['Four eyes: the requester may not decide.'],
        escalates: { to: 'channel:console:managers', after: '3m0s' },
        decisions: [
          {
            ...{ layer: 'step_up', decision: 'require' },
            rule: 'step_up.tools.datetime_now',
            says: 'needs a sign-in with acr gold',
          },
          {
            ...{ layer: 'defer', decision: 'defer', rule: 'defer.tools.datetime_now' },
            says: 'waits for a person: channel:console:*, for 4m0s',
          },
        ],
      },
    ]);
    expect(auth).toEqual({ providers: ['oidc'], required: true });
    expect(egress.hosts).toContainEqual({
      host: 'login.example.com:443',
      origin: expect.stringContaining('auth'),
    });
  });

  it('the limits and the effect of a tool', async () => {
    const { tools } = await policy(
      folderWith(`builtin_tools: [datetime_now, json_query]
security:
  limits:
    looks: {tools: ["datetime_*"], per: 24h, max: 2, by: [caller, tool], to: "channel:console:*"}
    deep: {tools: [json_query], amount: args.json, when: 'args.path != "$"', per: {calendar: week, zone: Europe/Berlin}, max: 5000, over: deny}
  effects:
    "*": {key: "{tool}", repeat: join, within: 30d}
    datetime_now: {key: "now", shadow: true, to: "channel:console:ops", timeout: 5m, approvers: ["ann@example.com"]}
`),
    );
    const none = { origin: 'builtin', approvers: null };
    expect(tools).toEqual([
      {
        ...{ name: 'datetime_now', ...none },
        decisions: [
          {
            ...{ layer: 'limits', decision: 'limit', rule: 'limits.looks', limit: 'looks' },
            says: 'at most 2 calls in 24 h for each caller and tool; a call over it waits for a person: channel:console:*, for 10m0s',
          },
          {
            ...{ layer: 'effects', decision: 'effect', rule: 'effects.datetime_now' },
            says: 'one call with the same now; a repeat waits for a person: channel:console:ops, for 5m0s, decided by ann@example.com',
            shadow: { times: 0, days: 7 },
          },
        ],
      },
      {
        ...{ name: 'json_query', ...none },
        decisions: [
          {
            ...{ layer: 'limits', decision: 'limit', rule: 'limits.deep', limit: 'deep' },
            says: 'at most 5,000 of args.json a week (Europe/Berlin) if args.path != "$"; a call over it is denied',
          },
          {
            ...{ layer: 'effects', decision: 'effect', rule: 'effects.*' },
            says: 'one call with the same {tool} within 30 days; a repeat gets the first result if its arguments are equal, else waits for a person: channel:console:*, for 10m0s',
          },
        ],
      },
    ]);
  });

  it('how often a rule in shadow would have decided', async () => {
    const directory = folderWith(held('{to: "channel:console:*", shadow: true}'));
    const rule = 'defer.tools.datetime_now';
    const lines = [rule, 'defer.tools.other', rule].map((one) => ({ fields: { rule: one } }));
    const asked: unknown[] = [];
    const page = async (_: string, { wanted }: { wanted: object | null }) => {
      asked.push(wanted);
      const events = lines.map((line, seq) => ({ seq, line: JSON.stringify(line) }));
      return { events, first: 1, total: 3, pruned: { count: 0, head: '' }, path: '', files: [] };
    };
    const { tools = [] } = (await policyOf(directory, {}, { page })) ?? {};
    const from = Date.now() - 7 * 86_400_000;
    expect(asked).toContainEqual({
      ...{ event: 'policy_shadow', task: '', decision: '' },
      from: expect.closeTo(from, -5),
    });
    expect(tools).toEqual([
      {
        ...{ name: 'datetime_now', origin: 'builtin', approvers: null },
        decisions: [
          {
            ...{ layer: 'defer', decision: 'defer', rule },
            says: 'waits for a person: channel:console:*, for 10m0s',
            shadow: { times: 2, days: 7 },
          },
        ],
      },
    ]);
  });

  it('admission as the last start of the agent reported it, with any environment of the dashboard', async () => {
    const directory = folderWith();
    const off =
      'admission: off, because SERVICE_PLATFORM_TOKEN is not set; set it, or unset SERVICE_ADMISSION_URL';
    const start = (pid: number) => ({
      ...{ time: '2026-01-01T00:00:00.000Z', pid, msg: 'the agent is started in the background' },
    });
    logged(directory, start(1), { time: '2026-01-01T00:00:01.000Z', msg: off });
    const before = await policy(directory, {
      SERVICE_ADMISSION_URL: url,
      SERVICE_PLATFORM_TOKEN: 'of-us',
    });
    expect([before.admission, before.warnings]).toEqual([{ enabled: false, url }, [off]]);
    logged(
      directory,
      start(2),
      { time: '2026-01-02T00:00:01.000Z', msg: `admission: on; ${url} is asked before` },
      {
        time: '2026-01-02T00:00:02.000Z',
        msg: 'admission: call failed, admitting',
        error: 'the platform answered with status 500',
      },
    );
    const { admission, warnings } = await policy(directory);
    expect(warnings).toEqual([]);
    expect(admission).toEqual({
      enabled: true,
      last: {
        ...{ result: 'failed', at: '2026-01-02T00:00:02.000Z' },
        says: 'the platform answered with status 500',
      },
    });
  });

  it('a refusal of the platform, when it was the last record', async () => {
    const directory = folderWith();
    const event = {
      ...{ event: 'task_admission_denied', ts: '2026-01-03T00:00:00.000Z', seq: 1 },
      fields: { reason: 'the budget of today is spent', scope: 'org' },
    };
    writeFileSync(join(directory, '.service/audit.ndjson'), `${JSON.stringify(event)}\n`);
    const { admission } = await policy(directory, {
      SERVICE_ADMISSION_URL: url,
      SERVICE_PLATFORM_TOKEN: 'of-us',
    });
    expect(admission).toEqual({
      ...{ enabled: true, url },
      last: { result: 'denied', at: event.ts, says: 'the budget of today is spent' },
    });
  });

  it('nothing about admission while it is unknown because the secrets are locked', async () => {
    const directory = folderWith('secrets: {providers: [encrypted-file]}\n');
    writeFileSync(join(directory, '.service/secrets.enc'), '{}');
    const { admission, warnings } = await policy(directory);
    expect([admission, warnings]).toEqual([{ enabled: false }, []]);
  });
});
