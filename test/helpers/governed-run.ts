import { expect } from 'vitest';
import type { AgentClient } from './agent-client.ts';
import {
  type GovernedAgent,
  type GovernedOptions,
  type GovernedSettings,
  startGovernedAgent,
} from './governed-agent.ts';
import { type Ending, expectedTask, type Said } from './governed-words.ts';
import { type AuditLine, expectIntact, reached, story } from './test-agent.ts';

/** The ways in which a task can be sent. */
export const transports = ['REST', 'JSON-RPC', 'SSE'] as const;

export type Transport = (typeof transports)[number];

/** Pairs every row with every transport, and rows in which the transport makes no difference with REST alone. */
export function overTransports<Row extends unknown[]>(
  rows: Row[],
  further: Row[] = [],
): [transport: Transport, ...Row][] {
  return [
    ...transports.flatMap((transport) =>
      rows.map((row): [Transport, ...Row] => [transport, ...row]),
    ),
    ...further.map((row): [Transport, ...Row] => ['REST', ...row]),
  ];
}

/** A task that one agent is sent. */
export interface Scenario extends GovernedOptions {
  settings: GovernedSettings;
  /** The caller's token; without one the agent knows nobody. */
  token?: string;
  /** What the caller asks for in words. */
  text?: string;
  script: unknown[];
  /** What is decided as soon as the call waits, and what is to be looked at before. */
  decision?: object;
  whileHeld?: (agent: GovernedAgent, held: any) => Promise<void>;
}

/** All that is to come of a task, and by being complete all that is not. */
export interface Outcome extends Ending {
  /** The audit events between the start and the end of the run. */
  events: [event: string, fields?: object][];
  decisions: Said[];
  /** The states the caller of a stream sees, other than `working`. */
  states?: string[];
}

/** The id of the task that a scenario is about. */
const id = 't1';

/** Sends the task of a scenario over one transport and expects this outcome and nothing besides. */
export async function expectOutcome(
  transport: Transport,
  scenario: Scenario,
  outcome: Outcome,
): Promise<GovernedAgent> {
  const { settings, token, text = 'pay Maja five', script, decision, whileHeld } = scenario;
  const agent = await startGovernedAgent(settings, scenario);
  const caller = token === undefined ? agent : agent.as(token);
  const looker = token === undefined ? agent : agent.as(agent.token);
  const parts = [
    { kind: 'text', text },
    { kind: 'data', data: { script } },
  ];
  const message = { role: 'user', parts, messageId: 'm1' };
  const sent = sendings[transport](caller, message, outcome);
  if (decision !== undefined) {
    const held = await awaitTask(looker);
    await whileHeld?.(agent, held);
    expect(agent.ran).toEqual([]);
    expect(await looker.decide(id, decision)).toMatchObject({ status: 200 });
  }
  await sent;
  await expectRecorded(agent, looker, expectedTask(id, message, outcome), outcome);
  return agent;
}

/** The way to send a task over each transport, and the whole answer to its caller. */
const sendings: Record<
  Transport,
  (caller: AgentClient, message: object, outcome: Outcome) => Promise<void>
> = {
  async REST(caller, message, outcome) {
    const answer = await caller.post('/tasks/send', { task: { id, message } });
    const { stepUp } = outcome;
    expect(seen(answer)).toEqual({
      status: stepUp === undefined ? 200 : 401,
      type: 'application/json; charset=utf-8',
      challenge:
        stepUp === undefined
          ? null
          : `Bearer error="step_up_required", acr_values="${stepUp.required_acr}"`,
      body:
        stepUp === undefined
          ? expectedTask(id, message, outcome)
          : { error: 'step_up_required', code: 'step_up_required', ...stepUp },
    });
  },
  async 'JSON-RPC'(caller, message, outcome) {
    const answer = await caller.rpc('tasks/send', { id, message }, 'r-1');
    const { stepUp } = outcome;
    const said =
      stepUp === undefined
        ? { result: expectedTask(id, message, outcome) }
        : {
            error: {
              code: -32040,
              message: 'step_up_required',
              data: { error: 'step_up_required', ...stepUp },
            },
          };
    expect(seen(answer)).toEqual({
      status: 200,
      type: 'application/json; charset=utf-8',
      challenge: null,
      body: { jsonrpc: '2.0', id: 'r-1', ...said },
    });
  },
  async SSE(caller, message, outcome) {
    const stream = await caller.stream('/tasks/sendSubscribe', { body: { id, message } });
    const events = await stream.rest();
    const { status, headers } = stream.response;
    expect(seen({ status, headers, body: null })).toEqual({
      status: 200,
      type: 'text/event-stream',
      challenge: null,
      body: null,
    });
    const states = events.filter(({ event }) => event === 'status');
    expect(states.map(({ data }) => data.status.state).filter((one) => one !== 'working')).toEqual(
      outcome.states ?? [outcome.state],
    );
    const progress = events.filter(({ event }) => event === 'progress').map(({ data }) => data);
    expect(progress.filter(({ phase }) => phase !== 'token')).toEqual(
      (outcome.ran ?? []).flatMap(([tool]) => [
        { task_id: id, phase: 'tool_start', tool },
        { task_id: id, phase: 'tool_end', tool },
      ]),
    );
    const tokens = progress.filter(({ phase }) => phase === 'token').map(({ text }) => text);
    expect(tokens.join('')).toBe(outcome.state === 'completed' ? outcome.text : '');
    const task = expectedTask(id, message, outcome);
    expect(events.slice(-2).map(({ event, data }) => [event, data])).toEqual([
      ['status', task],
      ['result', task],
    ]);
  },
};

/** Expects what is left behind of the task, and nothing of what was prevented. */
async function expectRecorded(
  agent: GovernedAgent,
  looker: AgentClient,
  task: { metadata?: object },
  { state, events, decisions, ran = [] }: Outcome,
): Promise<void> {
  expect(agent.ran).toEqual(ran);
  expect(story(agent.audit(id))).toEqual([
    ['session_start'],
    ...events,
    ['session_end', { state }],
  ]);
  expectRuled(agent.audit(id), decisions);
  expect((await looker.get(`/tasks/${id}`)).body).toEqual(task);
  const { body } = await looker.get(`/tasks/${id}?decisions=true`);
  expect((await looker.rpc('tasks/get', { id, decisions: true })).body.result).toEqual(body);
  const metadata = { ...body.metadata, decisions: numbered(body.metadata.decisions) };
  expect({ ...body, metadata }).toEqual({ ...task, metadata: { ...task.metadata, decisions } });
  expect((await looker.get('/deferrals')).body).toEqual({ deferrals: [], total: 0 });
  await expectIntact(agent.auditPath);
}

/** Expects one ruling for each call: what the last layer before its run said, or that MODIFY changed it. */
function expectRuled(lines: AuditLine[], decisions: readonly Said[]): void {
  const calls = Map.groupBy(
    decisions.filter(({ call, layer }) => call !== undefined && !laterLayers.includes(layer)),
    ({ call }) => call,
  );
  const rulings = [...calls.values()].map((said) => {
    const last = said.at(-1);
    const decisive =
      last?.decision === 'allow' ? said.find(({ decision }) => decision === 'modify') : last;
    const { tool, layer, decision, reason } = decisive ?? last ?? {};
    return { tool, layer, decision, reason };
  });
  const ruled = lines.filter(({ event }) => event === 'call_ruled');
  expect(
    ruled.map(({ fields: { tool, layer, decision, reason } = {} }) => ({
      ...{ tool, layer, decision, reason },
    })),
  ).toEqual(rulings);
}

const laterLayers = ['credentials', 'output'];

/** Decision records with the number of the call in place of its id; times are only looked at. */
function numbered(records: { [key: string]: unknown }[]): object[] {
  const calls: unknown[] = [];
  return records.map(({ call_id, duration_ms, ...said }) => {
    expect(duration_ms).toBeGreaterThanOrEqual(0);
    if (call_id === undefined) return said;
    expect(call_id).toMatch(/^[0-9a-f-]{36}$/);
    if (!calls.includes(call_id)) calls.push(call_id);
    return { call: calls.indexOf(call_id) + 1, ...said };
  });
}

async function awaitTask(looker: AgentClient): Promise<unknown> {
  await reached(looker, id, 'deferred');
  return (await looker.get(`/tasks/${id}?decisions=true`)).body;
}

function seen({ status, headers, body }: { status: number; headers: Headers; body: unknown }) {
  return {
    status,
    type: headers.get('content-type'),
    challenge: headers.get('www-authenticate'),
    body,
  };
}
