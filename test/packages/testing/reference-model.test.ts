import fc from 'fast-check';
import { expect, it } from 'vitest';
import { modelCommands, modelRules } from '../../../packages/testing/arbitraries.ts';
import type {
  ModelAnswer,
  ModelCommand,
  ModelRules,
  ReferenceModel,
} from '../../../packages/testing/model-command.ts';
import { settingsOf } from '../../../packages/testing/model-settings.ts';
import { step } from '../../../packages/testing/reference-model.ts';
import { startTestAgent } from '../../../packages/testing/start-test-agent.ts';
import type { TestAgent } from '../../../packages/testing/test-agent.ts';
import { runs } from '../../helpers/runs.ts';

const auth = {
  providers: [{ type: 'static_token', name: 'ops', settings: { token_env: 'SERVICE_TOKEN' } }],
};

/** Starts an agent that has one tool, held by these rules; callers sign in if a provider exists. */
function agentOf(rules: ModelRules, signsIn: boolean): Promise<TestAgent> {
  const { security } = settingsOf(rules, 'pay');
  return startTestAgent({
    settings: { security, ...(signsIn ? { auth } : {}) },
    tools: { pay: 'paid' },
    env: { SERVICE_TOKEN: 'token-of-ops' },
  });
}

/** Does what a command says to an agent, and tells its answer as the surface would give it. */
async function run(agent: TestAgent, command: ModelCommand): Promise<ModelAnswer> {
  const status = await statusOf(agent, command);
  const task = 'id' in command ? await agent.task(command.id) : undefined;
  return { status, state: (task?.state ?? null) as ModelAnswer['state'] };
}

async function statusOf(agent: TestAgent, command: ModelCommand): Promise<number> {
  switch (command.type) {
    case 'send': {
      const calls = Array.from({ length: command.calls }, () => ({ tool: 'pay' }));
      const script = [...calls, { say: 'done' }];
      const by = command.by === null ? {} : { as: command.by };
      const sending = agent.send('pay', { id: command.id, script, ...by });
      return sending.then(
        () => 200,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'task_running' });
          return 409;
        },
      );
    }
    case 'decide': {
      const { id, by, email, note = '', args } = command;
      const decision = command.decision as 'approve';
      const reply = await agent.decide(id, decision, {
        email,
        note,
        ...(args === undefined ? {} : { args }),
        ...(by === null ? {} : { as: by }),
      });
      return reply.status;
    }
    case 'cancel':
      return (await agent.cancel(command.id)) === undefined ? 404 : 200;
    case 'read':
      return (await agent.task(command.id)) === undefined ? 404 : 200;
    case 'pass':
      return agent.advance(command.milliseconds).then(() => 200);
    case 'restart':
      return agent.restart().then(() => 200);
  }
}

/** Does what commands say to an agent and to the model of it, which must agree; returns what was answered. */
async function playBoth(
  rules: ModelRules,
  commands: readonly ModelCommand[],
  signsIn: boolean,
): Promise<[number, string | null][]> {
  await using agent = await agentOf(rules, signsIn);
  const answers: [number, string | null][] = [];
  let model: ReferenceModel = { rules, now: agent.now(), tasks: new Map() };
  for (const command of commands) {
    const [next, answer] = step(model, command);
    expect(await run(agent, command)).toEqual(answer);
    answers.push([answer.status, answer.state]);
    model = next;
  }
  for (const [id, task] of model.tasks) {
    expect([id, (await agent.task(id))?.state]).toEqual([id, task.state]);
    expect(agent.runs.filter(({ taskId }) => taskId === id)).toHaveLength(task.ran);
  }
  expect(agent.now()).toBe(model.now);
  expect(await agent.verify()).toMatchObject({ ok: true });
  return answers;
}

const usual: ModelRules = {
  approvers: ['ann@example.com', 'bob@example.com'],
  quorum: 1,
  fourEyes: false,
  bindApprover: false,
  onReject: 'fail',
  onRestart: 'abandon',
  timeout: 60_000,
};

const [ann, bob, eve] = ['ann@example.com', 'bob@example.com', 'eve@example.com'];
const send: ModelCommand = { type: 'send', id: 't1', by: eve, calls: 1 };
const approve = { type: 'decide', id: 't1', decision: 'approve' } as const;

it.each<[string, Partial<ModelRules>, ModelCommand[], (string | number | null)[][]]>([
  [
    'counts a caller once who claims to be two approvers',
    { quorum: 2 },
    [
      send,
      { ...approve, by: ann, email: ann },
      { ...approve, by: ann, email: bob },
      { ...approve, by: bob, email: bob },
      { ...approve, by: bob, email: bob },
    ],
    [
      [200, 'deferred'],
      [200, 'deferred'],
      [200, 'deferred'],
      [200, 'completed'],
      [409, 'completed'],
    ],
  ],
  [
    'refuses approvals by the requester, by token or by claimed email',
    { fourEyes: true },
    [
      { ...send, by: ann },
      { ...approve, by: ann, email: bob },
      { ...approve, by: eve, email: ann },
      { ...approve, by: eve, email: eve },
      { ...approve, by: eve, email: bob },
    ],
    [
      [200, 'deferred'],
      [403, 'deferred'],
      [403, 'deferred'],
      [403, 'deferred'],
      [200, 'completed'],
    ],
  ],
  [
    'ends a wait at its last millisecond and no earlier',
    {},
    [
      send,
      { type: 'pass', milliseconds: 59_999 },
      { ...approve, by: ann, email: ann, decision: 'maybe' },
      { type: 'pass', milliseconds: 1 },
      { ...approve, by: ann, email: ann },
    ],
    [
      [200, 'deferred'],
      [200, null],
      [400, 'deferred'],
      [200, null],
      [404, 'failed'],
    ],
  ],
  [
    'counts only the approval of changed arguments, and with four eyes that of another person',
    { edit: true, fourEyes: true, approvers: null },
    [
      send,
      { ...approve, by: ann, email: ann, args: { to: 'bob' } },
      { ...approve, by: ann, email: ann },
      { ...approve, by: bob, email: bob, args: { to: 'bob' } },
      { ...approve, by: bob, email: bob },
    ],
    [
      [200, 'deferred'],
      [200, 'deferred'],
      [403, 'deferred'],
      [200, 'completed'],
      [409, 'completed'],
    ],
  ],
  [
    'counts two anonymous people as one where four eyes must see a change',
    { edit: true, fourEyes: true, approvers: null },
    [
      send,
      { ...approve, by: ann, email: null, args: { to: 'bob' } },
      { ...approve, by: bob, email: null },
      { ...approve, by: bob, email: bob },
    ],
    [
      [200, 'deferred'],
      [200, 'deferred'],
      [403, 'deferred'],
      [200, 'completed'],
    ],
  ],
  [
    'changes no arguments where the rule forbids it',
    {},
    [
      send,
      { ...approve, by: ann, email: ann, args: { to: 'bob' } },
      { ...approve, decision: 'reject', by: ann, email: ann, args: { to: 'bob' } },
    ],
    [
      [200, 'deferred'],
      [400, 'deferred'],
      [400, 'deferred'],
    ],
  ],
])('the model agrees with an agent that %s', async (_, rules, commands, answers) => {
  expect(await playBoth({ ...usual, ...rules }, commands, true)).toEqual(answers);
});

it('the model predicts an agent whose callers sign in', { timeout: 240_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(modelRules(), modelCommands(), (rules, commands) =>
      playBoth(rules, commands, true).then(() => undefined),
    ),
    { numRuns: runs(60) },
  );
});

it('the model predicts an agent without sign-in', { timeout: 240_000 }, async () => {
  const emails = ['ann@example.com', 'bob@example.com', null];
  const nobody = modelCommands(emails).map((commands) =>
    commands.map((command) => ('by' in command ? { ...command, by: null } : command)),
  );
  await fc.assert(
    fc.asyncProperty(modelRules(), nobody, (rules, commands) =>
      playBoth(rules, commands, false).then(() => undefined),
    ),
    { numRuns: runs(40) },
  );
});
