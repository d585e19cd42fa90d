import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type AnyMachineSnapshot, createActor } from 'xstate';
import { parse } from 'yaml';
import '../../../src/dashboard/workspace/agent-maker.ts';
import { loadConfig } from '../../../src/actors/config/config.ts';
import { skillOffers } from '../../../src/agent/skills/skill-offers.ts';
import {
  type AgentAnswers,
  firstAnswers,
  firstApproval,
  type Question,
  questions,
  type Step,
  steps,
} from '../../../src/machines/wizard/agent-answers.ts';
import { agentPlan } from '../../../src/machines/wizard/agent-plan.ts';
import {
  type WizardContext,
  type WizardEvent,
  wizardMachine,
} from '../../../src/machines/wizard/wizard-machine.ts';
import { isReachable } from '../../../src/machines/wizard/wrong-answers.ts';
import { type Happening, type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { suiteOf } from '../../helpers/runs.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';

const offer = { skills: await skillOffers(), signIn: [] };

const webhook = { target: 'ops', url: 'https://ops.example.com/approvals' };
const oidc = { issuer: 'https://id.example.com', audience: ['refund-desk'] };
const openai = { provider: 'openai', name: 'gpt-5', address: '', key: 'sk-1' };
const mail = ['email-send'];
const SMTP_URL = 'smtp://mail.example.com';

/** The typed texts, by field; of one step in addition to the name and the model in each walk. */
const typed: { [Each in Question]?: Record<string, AgentAnswers[Each]> } = {
  name: { 'a name': 'Refund Desk' },
  provider: { 'Ollama as provider': 'ollama' },
  model: { 'a model': { ...firstAnswers.model, name: 'qwen3' } },
  channels: { 'a webhook': { webhook }, 'a webhook without address': { webhook: {} } },
  tools: {
    'no tool': { ...firstAnswers.tools, names: [] },
    programs: { ...firstAnswers.tools, names: ['cli_execute'], commands: ['jq'] },
    'no program to run': { ...firstAnswers.tools, names: ['cli_execute'] },
  },
  skills: {
    'a skill': { names: mail, variables: { SMTP_URL, SMTP_FROM: 'desk@example.com' } },
    'a skill without a sender': { names: mail, variables: { SMTP_URL } },
    'a skill with a bad variable': { names: mail, variables: { SMTP_URL: "'both` quotes" } },
  },
  fallback: { 'a fallback': [openai], 'a fallback without model': [{ ...openai, name: '' }] },
  auth: {
    OIDC: { mode: 'oidc', settings: oidc },
    'OIDC without issuer': { mode: 'oidc', settings: {} },
  },
  egress: {
    'a host': { mode: 'allowlist', hosts: ['api.example.com'] },
    'an address for a host': { mode: 'allowlist', hosts: ['10.0.0.1'] },
  },
  security: {
    'a secret': { variables: { SHOP_KEY: 'a secret of the shop' }, passphrase: '' },
    'a variable that steers programs': { variables: { LD_PRELOAD: 'x' }, passphrase: '' },
  },
  approvals: {
    'an approver': {
      datetime_now: { ...firstApproval, timeout: '20m', approvers: ['ann@example.com'] },
    },
    'a wait without end': { datetime_now: { ...firstApproval, timeout: 'soon' } },
  },
};

/** A form on the page of a dashboard in an empty workspace. */
async function openForm() {
  const dashboard = await openDashboard();
  const wizard = createActor(wizardMachine, { input: { offer } }).start();
  return { dashboard, wizard };
}

type World = Awaited<ReturnType<typeof openForm>>;

const contextOf = ({ context }: AnyMachineSnapshot): WizardContext => context;

/** The steps other than the name and the model that differ from their initial state. */
function changedIn(snapshot: AnyMachineSnapshot): Question[] {
  const { answers } = contextOf(snapshot);
  const base = ['name', 'provider', 'model'];
  // A skill has its tools held.
  const own = answers.skills.names.length > 0 ? [...base, 'approvals'] : base;
  const isAsBegun = (step: Question) =>
    JSON.stringify(answers[step]) === JSON.stringify(firstAnswers[step]);
  return questions.filter((step) => !own.includes(step) && !isAsBegun(step));
}

const isPlain = (snapshot: AnyMachineSnapshot) =>
  changedIn(snapshot).length === 0 && contextOf(snapshot).answers.model.session === '';

function sends(
  event: WizardEvent,
  isPossible: (snapshot: AnyMachineSnapshot) => boolean,
): Happening<World> {
  return { event, in: isPossible, happen: ({ wizard }) => wizard.send(event) };
}

/** Only with a model of its own is a fallback asked for; what else is typed comes without one. */
const isFree = (step: Question, snapshot: AnyMachineSnapshot) => {
  const { provider, model, name } = contextOf(snapshot).answers;
  if (step === 'name' || step === 'provider') return isPlain(snapshot);
  if (step === 'model') return isPlain(snapshot) && model.name === '';
  const isBare = step === 'fallback' ? provider === 'ollama' : provider === 'scripted';
  return isBare && name !== '' && changedIn(snapshot).every((changed) => changed === step);
};

const edits = Object.entries(typed).flatMap(([step, values]) =>
  Object.entries(values).map(([name, value]): [string, Happening<World>] => [
    name,
    sends(
      { type: 'answer.edit', step, value } as WizardEvent,
      (snapshot) => snapshot.matches(step) && isFree(step as Question, snapshot),
    ),
  ]),
);

const jumps = steps.map((step): [string, Happening<World>] => [
  `to ${step}`,
  sends(
    { type: 'step.go', step },
    (snapshot) => isPlain(snapshot) && snapshot.matches(step === 'name' ? 'review' : 'name'),
  ),
]);

const happenings: Happenings<World> = {
  ...Object.fromEntries([...edits, ...jumps]),
  next: sends({ type: 'step.next' }, () => true),
  back: sends({ type: 'step.back' }, isPlain),
  'the browser signs in': sends(
    { type: 'session.keep', session: 's-1' },
    (snapshot) => snapshot.matches('model') && isPlain(snapshot),
  ),
  'it is taken': sends({ type: 'review.accept' }, (snapshot) => snapshot.matches('review')),
};

/** What the server says of answers is what the form says, and it makes an agent of those alone that can be taken. */
async function look({ dashboard }: World, snapshot: AnyMachineSnapshot): Promise<void> {
  const { answers, complaint } = contextOf(snapshot);
  const step: Step | 'accepted' = snapshot.value;
  if (snapshot.status === 'done') {
    const output: AgentAnswers = snapshot.output;
    const { status, body } = await dashboard.post('/api/create', output);
    if (output.skills.names.length > 0 && output.skills.variables['SMTP_FROM'] === undefined) {
      // The wizard takes it, as a variable may come from elsewhere; an agent that would not start is not made.
      expect({ status, body }).toMatchObject({
        status: 400,
        body: {
          error: expect.stringContaining('SMTP_FROM; set it'),
          code: 'agent_invalid',
          step: 'skills',
        },
      });
      return expect(readdirSync(dashboard.workspace)).toEqual([]);
    }
    const directory = join(dashboard.workspace, 'refund-desk');
    expect({ status, body }).toEqual({ status: 201, body: { agent_id: 'refund-desk', directory } });
    const { service, variables } = agentPlan(output);
    expect(parse(readFileSync(join(directory, 'service.yaml'), 'utf8'))).toEqual(service);
    const read = loadConfig(directory, Object.fromEntries(variables));
    expect(read.ok ? read.config.agent_id : read.problems).toBe('refund-desk');
    return;
  }
  const { body } = await dashboard.post('/api/wizard/preview', answers);
  if (complaint !== null) expect(body.complaints[step]).toBe(complaint);
  if (isReachable('review', answers, offer)) return expect(body.complaints).toEqual({});
  const refused = await dashboard.post('/api/create', answers);
  const [first] = Object.entries(body.complaints);
  expect({ status: refused.status, body: refused.body }).toEqual({
    status: 400,
    body: { error: first?.[1], code: 'invalid_body', step: first?.[0] },
  });
  expect(readdirSync(dashboard.workspace)).toEqual([]);
}

describe('the shortest paths of the wizard, with the server of its form', () => {
  walkChart(wizardMachine, happenings, openForm, {
    isBrief: suiteOf() === 'usual',
    input: { offer },
    fingerprint: ({ context }) => [context.answers, context.complaint !== null],
    look,
  });
});
