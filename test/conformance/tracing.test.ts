import { context, propagation } from '@opentelemetry/api';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LanguageModel } from '../../src/actors/ports/model.ts';
import { outboundTraceHeaders } from '../../src/actors/telemetry/spans.ts';
import { type Agent, startAgent } from '../../src/agent/start/start-agent.ts';
import {
  canary,
  denial,
  says,
  startFakePlatform,
} from '../actors/access/admission/fake-platform.ts';
import { playing } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { startAgentWithModel } from '../helpers/agent-with-model.ts';
import { storeEnvironment } from '../helpers/kept-store.ts';
import {
  type AuditLine,
  deferring,
  launchAgent,
  startTestAgent,
  TestAgent,
} from '../helpers/test-agent.ts';
import {
  type CollectedSpan,
  type SpanTree,
  startCollector,
  type TraceCollector,
  traceInto,
} from '../helpers/trace-collector.ts';

const caller = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const traceparent = `00-${caller.traceId}-${caller.spanId}-01`;
const script = [{ tool: 'pay' }, { say: 'paid' }];

const verified = { name: 'auth.verify', status: 'unset' } as const;
const thought = { name: 'chat demo', status: 'unset' } as const;

/** What a run looks like in which `pay` was released. */
const released: SpanTree = {
  name: 'invoke_agent till',
  status: 'unset',
  children: [
    { name: 'approval.wait', status: 'unset' },
    thought,
    thought,
    { name: 'execute_tool pay', status: 'unset' },
  ],
};

const decided: SpanTree = { name: 'a2a.tasks/decisions', status: 'unset', children: [verified] };

/** Where a legacy send goes. */
const place = {
  'http.route': '/tasks/send',
  'server.address': '127.0.0.1',
  'server.port': expect.any(Number),
  'url.path': '/tasks/send',
  'url.scheme': 'http',
};

const quiet = { info() {}, warn() {}, error() {} };

/** Omits the polls with which a test waits. */
function treesOf(collector: TraceCollector): SpanTree[] {
  return collector.trees().filter(({ name }) => name !== 'a2a.tasks/get');
}

describe('the spans of a held and released call', () => {
  it.each([
    [
      'REST',
      'a2a.tasks/send',
      (agent: TestAgent) => agent.post('/tasks/send', { id: 't', message: playing(script) }),
    ],
    [
      'JSON-RPC',
      'a2a.tasks/send',
      (agent: TestAgent) => agent.rpc('tasks/send', { id: 't', message: playing(script) }),
    ],
    [
      'a stream',
      'a2a.tasks/sendSubscribe',
      async (agent: TestAgent) => (await agent.subscribe('t', script)).rest(),
    ],
  ])('form one tree over %s', async (_, name, send) => {
    const collector = await startCollector();
    const tracing = traceInto(collector);
    const agent = await startTestAgent(deferring());
    const answer = send(agent);
    await agent.reached('t', 'deferred');
    await agent.decide('t', { decision: 'approve', approver: 'ada' });
    await answer;
    await agent.stop();
    await tracing.stop();
    expect(treesOf(collector)).toEqual([
      decided,
      { name, status: 'unset', children: [verified, released] },
    ]);
    const [wait] = collector.named('approval.wait');
    const [decision] = collector.named('a2a.tasks/decisions');
    expect(wait?.links).toEqual([decision?.spanId]);
    const ofTask = [decision, ...collector.named(name), ...collector.named('a2a.tasks/get')];
    expect(new Set(ofTask.map((span) => span?.attributes['a2a.task.id']))).toEqual(new Set(['t']));
  });
});

describe('the span of a refused request', () => {
  it('has the status Error at authentication', async () => {
    const { agent, collector, finish } = await startTraced();
    const refused = { name: 'a2a.tasks/send', status: 'error' };
    await agent.as('wrong').post('/tasks/send', { message: playing([]) });
    await finish();
    expect(treesOf(collector)).toEqual([
      { ...refused, children: [{ name: 'auth.verify', status: 'error' }] },
    ]);
    const [span] = collector.named('a2a.tasks/send');
    expect(span?.attributes).toEqual({
      'a2a.method': 'tasks/send',
      'http.request.method': 'POST',
      ...place,
      'http.response.status_code': 401,
      'holdpoint.correlation_id': expect.any(String),
    });
  });

  it('has it when a shutdown cuts a held answer that had begun', async () => {
    const collector = await startCollector();
    const tracing = traceInto(collector);
    const agent = await startTestAgent({ ...deferring(), server: { hold_heartbeat: '100ms' } });
    const response = await agent.open('POST', '/tasks/send', {
      body: { id: 't', message: playing(script) },
    });
    await agent.stop();
    await expect(response.text()).rejects.toThrow('terminated');
    await tracing.stop();
    const [span] = collector.named('a2a.tasks/send');
    expect([span?.status, span?.attributes]).toEqual([
      'error',
      {
        'a2a.method': 'tasks/send',
        'a2a.task.id': 't',
        'http.request.method': 'POST',
        ...place,
        'http.response.status_code': 200,
        'holdpoint.correlation_id': expect.any(String),
      },
    ]);
  });

  it('has it when governance denies a call, and nothing ran', async () => {
    const { agent, collector, finish } = await startTraced();
    await agent.send('t', [{ tool: 'ghost' }]);
    await finish();
    expect(treesOf(collector)).toEqual([
      {
        name: 'a2a.tasks/send',
        status: 'unset',
        children: [verified, { name: 'invoke_agent till', status: 'error', children: [thought] }],
      },
    ]);
  });

  it.each([['reject', { decision: 'reject', approver: 'ada' }]])(
    'has it when a person decides %s',
    async (outcome, decision) => {
      const { agent, collector, finish } = await startTraced(deferring());
      const answer = agent.send('t', script);
      await agent.reached('t', 'deferred');
      await agent.decide('t', decision);
      await answer;
      await finish();
      expect(collector.named('approval.wait').map(summary)).toEqual([
        {
          status: 'error',
          'holdpoint.approval.outcome': outcome,
          'gen_ai.tool.name': 'pay',
          'gen_ai.tool.call.id': expect.any(String),
        },
      ]);
      expect(collector.named('execute_tool pay')).toEqual([]);
      expect(collector.named('invoke_agent till')[0]?.status).toBe('error');
    },
  );

  it('has it on a timeout, with the full length of the wait', async () => {
    const { agent, collector, finish } = await startTraced(deferring({ timeout: '200ms' }));
    await agent.send('t', script);
    await finish();
    const [wait] = collector.named('approval.wait');
    expect(summary(wait as CollectedSpan)).toEqual({
      status: 'error',
      'holdpoint.approval.outcome': 'timeout',
      'gen_ai.tool.name': 'pay',
      'gen_ai.tool.call.id': expect.any(String),
    });
    expect(wait?.duration).toBeGreaterThanOrEqual(200);
  });

  it('has it for an unknown JSON-RPC method, whose name is omitted', async () => {
    const { agent, collector, finish } = await startTraced();
    await agent.rpc('tasks/destroy', {});
    await agent.rpc('x'.repeat(5_000), {});
    await agent.post('/', '{');
    await finish();
    const unknown = { name: 'a2a.unknown', status: 'error', children: [verified] };
    expect(treesOf(collector)).toEqual([unknown, unknown, unknown]);
  });
});

describe('the span of admission', () => {
  it('is a sibling of authentication, and contains the request to the platform', async () => {
    const { collector } = await admitting({ decision: 'admit' });
    expect(treesOf(collector)).toEqual([
      {
        name: 'a2a.tasks/send',
        status: 'unset',
        children: [
          {
            name: 'admission.check',
            status: 'unset',
            children: [{ name: 'http.client', status: 'unset' }],
          },
          verified,
          { name: 'invoke_agent till', status: 'unset', children: [thought] },
        ],
      },
    ]);
    // OTLP counts SERVER as 2 and CLIENT as 3.
    const kinds = ['a2a.tasks/send', 'admission.check', 'http.client'].map((name) =>
      collector.named(name).map(({ kind }) => kind),
    );
    expect(kinds).toEqual([[2], [1], [3]]);
  });

  it('has the status Error when the platform denies, like the request', async () => {
    const { collector, audit } = await admitting(denial);
    expect(treesOf(collector)).toEqual([
      {
        name: 'a2a.tasks/send',
        status: 'error',
        children: [
          {
            name: 'admission.check',
            status: 'error',
            children: [{ name: 'http.client', status: 'unset' }],
          },
          verified,
        ],
      },
    ]);
    const [check] = collector.named('admission.check');
    expect(check?.attributes).toEqual({
      'forge.admission.decision': 'deny',
      'forge.admission.reason': denial.reason,
      'forge.admission.scope': denial.scope,
      'forge.admission.window': denial.window,
      'forge.admission.cached': false,
      'forge.admission.fallback': false,
    });
    const [request] = collector.named('a2a.tasks/send');
    expect(audit.map(placeOf)).toEqual([
      ['task_admission_denied', request?.traceId, request?.spanId],
    ]);
    expect(JSON.stringify(collector.posts)).not.toContain(canary);
  });
});

describe('the trace of a caller', () => {
  it('is continued, and every event of the run names it', async () => {
    const { agent, collector, finish } = await startTraced();
    await agent.post(
      '/tasks/send',
      { id: 't', message: playing([{ say: 'hi' }]) },
      { traceparent },
    );
    const events = agent.audit('t').map(placeOf);
    await finish();
    const [request] = collector.named('a2a.tasks/send');
    const [run] = collector.named('invoke_agent till');
    expect([request?.traceId, request?.parentSpanId]).toEqual([caller.traceId, caller.spanId]);
    expect(run?.parentSpanId).toBe(request?.spanId);
    expect(events).toEqual([
      ['session_start', caller.traceId, run?.spanId],
      ['llm_call', caller.traceId, run?.spanId],
      ['session_end', caller.traceId, run?.spanId],
    ]);
  });

  it.each([
    'nonsense',
    `00-${'0'.repeat(32)}-${caller.spanId}-01`,
    `ff-${caller.traceId}-${caller.spanId}-01`,
    `${traceparent}, ${traceparent}`,
  ])('is replaced by a new one when its header is %s', async (malformed) => {
    const { agent, collector, finish } = await startTraced();
    const answer = await agent.post(
      '/tasks/send',
      { message: playing([{ say: 'hi' }]) },
      { traceparent: malformed },
    );
    await finish();
    expect(answer.status).toBe(200);
    const [request] = collector.named('a2a.tasks/send');
    expect(request?.parentSpanId).toBeNull();
    expect(request?.traceId).not.toBe(caller.traceId);
  });

  it('is sent to the model, its baggage only where it may go', async () => {
    const collector = await startCollector();
    const tracing = traceInto(collector);
    const seen: unknown[] = [];
    const agent = await startWithModel({
      provider: 'test',
      name: 'listener',
      async next() {
        seen.push(
          propagation.getBaggage(context.active())?.getEntry('tenant')?.value,
          outboundTraceHeaders(),
          outboundTraceHeaders({ baggage: true }),
        );
        return { text: 'heard', calls: [], inputTokens: 3, outputTokens: 1 };
      },
    });
    await agent.post(
      '/tasks/send',
      { id: 't', message: playing([]) },
      { traceparent, tracestate: 'vendor=1', baggage: 'tenant=acme' },
    );
    await tracing.stop();
    const [turn] = collector.named('chat listener');
    const onward = {
      traceparent: `00-${caller.traceId}-${turn?.spanId}-01`,
      tracestate: 'vendor=1',
    };
    expect(seen).toEqual(['acme', onward, { ...onward, baggage: 'tenant=acme' }]);
    expect(turn?.attributes).toEqual({
      'a2a.task.id': 't',
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'test',
      'gen_ai.request.model': 'listener',
      'gen_ai.response.model': 'listener',
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 1,
    });
  });

  it('is linked, and not continued, for the decision', async () => {
    const { agent, collector, finish } = await startTraced(deferring());
    const answer = agent.send('t', script);
    await agent.reached('t', 'deferred');
    await agent.post(
      '/tasks/t/decisions',
      { decision: 'approve', approver: 'ada' },
      { traceparent },
    );
    await answer;
    await finish();
    const ofCaller = collector.spans.filter(({ traceId }) => traceId === caller.traceId);
    expect(ofCaller.map(({ name }) => name).toSorted()).toEqual([
      'a2a.tasks/decisions',
      'auth.verify',
    ]);
  });

  it('is named in the audit log while tracing is off, and new ones are not', async () => {
    const agent = await startTestAgent({
      auth: { providers: [{ type: 'static_token', name: 'ops', settings: { token: 'secret' } }] },
    });
    const ops = agent.as('secret');
    const message = playing([{ say: 'hi' }]);
    await ops.post('/tasks/send', { id: 'named', message }, { traceparent });
    await ops.post('/tasks/send', { id: 'nameless', message });
    await ops.post('/tasks/send', { id: 'garbled', message }, { traceparent: 'nonsense' });
    const place = [caller.traceId, caller.spanId];
    const nowhere = [undefined, undefined];
    const lines = agent.audit().filter(({ event }) => /^(auth|session|llm)/.test(event));
    expect(lines.map(placeOf)).toEqual([
      ...['auth_verify', 'session_start', 'llm_call', 'session_end'].map((event) => [
        event,
        ...place,
      ]),
      ...['auth_verify', 'session_start', 'llm_call', 'session_end'].map((event) => [
        event,
        ...nowhere,
      ]),
      ...['auth_verify', 'session_start', 'llm_call', 'session_end'].map((event) => [
        event,
        ...nowhere,
      ]),
    ]);
    expect(lines.filter((line) => 'trace_id' in line)).toHaveLength(4);
  });
});

describe('a restart in the middle of a wait', () => {
  it('keeps the run in its trace', async () => {
    const folder = new AgentFolder(deferring({}, { on_restart: 'resume' }));
    onTestFinished(() => folder.remove());
    const before = await startCollector();
    const first = traceInto(before);
    const agent = await launchIn(folder);
    const answer = agent.post(
      '/tasks/send',
      { id: 't', message: playing(script) },
      { traceparent },
    );
    await agent.reached('t', 'deferred');
    await agent.stop();
    await answer;
    await first.stop();
    const after = await startCollector();
    const second = traceInto(after);
    const again = await launchIn(folder);
    await again.decide('t', { decision: 'approve', approver: 'ada' });
    await again.reached('t', 'completed');
    const ids = new Set(again.audit('t').map(({ trace_id }) => trace_id));
    await again.stop();
    await second.stop();
    expect([...ids]).toEqual([caller.traceId]);
    const [request] = before.named('a2a.tasks/send');
    const [segment] = before.named('invoke_agent till');
    expect(segment?.attributes).toEqual({
      'a2a.task.id': 't',
      'a2a.task.state': 'deferred',
      'gen_ai.agent.name': 'till',
      'gen_ai.operation.name': 'invoke_agent',
    });
    expect(treesOf(after)).toEqual([
      decided,
      {
        name: 'invoke_agent till',
        status: 'unset',
        children: [
          { name: 'approval.wait', status: 'unset' },
          thought,
          { name: 'execute_tool pay', status: 'unset' },
        ],
      },
    ]);
    const [run] = after.named('invoke_agent till');
    expect([run?.traceId, run?.parentSpanId]).toEqual([caller.traceId, request?.spanId]);
  });

  it('ends the run with the status Error when the wait is abandoned', async () => {
    const folder = new AgentFolder(deferring());
    onTestFinished(() => folder.remove());
    const agent = await launchIn(folder);
    const answer = agent.post(
      '/tasks/send',
      { id: 't', message: playing(script) },
      { traceparent },
    );
    await agent.reached('t', 'deferred');
    await agent.stop();
    await answer;
    const collector = await startCollector();
    const tracing = traceInto(collector);
    const again = await launchIn(folder);
    await again.stop();
    await tracing.stop();
    expect(collector.trees()).toEqual([
      {
        name: 'invoke_agent till',
        status: 'error',
        children: [{ name: 'approval.wait', status: 'error' }],
      },
    ]);
    expect(collector.spans.map(({ traceId }) => traceId)).toEqual([caller.traceId, caller.traceId]);
  });
});

describe('a request outside A2A', () => {
  it('has no span, nor has its work', async () => {
    const { agent, collector, finish } = await startTraced();
    await agent.get('/healthz');
    await agent.get('/readyz');
    await agent.get('/metrics');
    await agent.get('/nowhere', { traceparent });
    await finish();
    expect(collector.spans).toEqual([]);
  });
});

/** An agent whose spans are collected; `finish` has them all delivered. */
async function startTraced(settings: Parameters<typeof startTestAgent>[0] = {}) {
  const collector = await startCollector();
  const tracing = traceInto(collector);
  const agent = await startTestAgent(settings);
  const finish = async (): Promise<void> => {
    await agent.stop();
    await tracing.stop();
  };
  return { agent, collector, finish };
}

/** Sends one task to an agent whose platform says this. */
async function admitting(
  verdict: object,
): Promise<{ collector: TraceCollector; audit: AuditLine[] }> {
  const collector = await startCollector();
  const tracing = traceInto(collector);
  const platform = await startFakePlatform();
  platform.reply = says(verdict);
  const folder = new AgentFolder({});
  onTestFinished(() => folder.remove());
  const agent = await startAgent({
    directory: folder.path,
    host: '127.0.0.1',
    port: 0,
    noAuth: false,
    inspectPort: null,
    env: {
      ...storeEnvironment(),
      SERVICE_ADMISSION_URL: platform.url,
      SERVICE_PLATFORM_TOKEN: canary,
    },
    log: quiet,
  });
  const client = clientOf(agent, folder);
  await client.post('/tasks/send', { message: playing([{ say: 'hi' }]) });
  const audit = client.audit().filter(({ event }) => event === 'task_admission_denied');
  await client.stop();
  await tracing.stop();
  return { collector, audit };
}

/** Starts an agent in a folder that outlives it. */
async function launchIn(folder: AgentFolder): Promise<TestAgent> {
  const agent = await launchAgent({}, { folder });
  onTestFinished(() => agent.stop());
  return agent;
}

async function startWithModel(model: LanguageModel): Promise<TestAgent> {
  const folder = new AgentFolder({});
  onTestFinished(() => folder.remove());
  return clientOf(await startAgentWithModel(folder.path, model, quiet), folder);
}

function clientOf(agent: Agent, folder: AgentFolder): TestAgent {
  const client = new TestAgent(agent, folder, []);
  onTestFinished(() => client.stop());
  return client;
}

function placeOf({ event, trace_id: traceId, span_id: spanId }: AuditLine): unknown[] {
  return [event, traceId, spanId];
}

/** The status and the attributes of a span, without the task that it belongs to. */
function summary({ status, attributes }: CollectedSpan): object {
  const { 'a2a.task.id': _, ...others } = attributes;
  return { status, ...others };
}
