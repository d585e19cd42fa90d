import {
  type AgentAnswers,
  firstApproval,
  type Question,
  skillVariables,
  toolsOf,
} from '../../machines/wizard/agent-answers.ts';
import { splitList } from '../../machines/wizard/field.ts';
import {
  authOffer,
  authOffers,
  channelOffer,
  channels,
  egressModes,
  providers,
  searchServices,
  tools,
  type WizardOffer,
} from '../../machines/wizard/offers.ts';
import type { AnswerEdit } from '../../machines/wizard/wizard-machine.ts';
import { askFields } from './ask-fields.ts';
import { askFallback, askModel } from './ask-model.ts';
import { environmentAddress, hasKey } from './environment-model.ts';
import type { Prompts } from './prompts.ts';

export interface StepAsking {
  prompts: Prompts;
  answers: AgentAnswers;
  offer: WizardOffer;
  /** Returns the hosts that the answers name, one per line. */
  hosts: () => string[];
  env: NodeJS.ProcessEnv;
}

/**
 * Prompts for one step on the terminal with the current answers as defaults. Rejects with the errors of its prompts.
 */
export async function askStep(step: Question, asking: StepAsking): Promise<AnswerEdit> {
  const { prompts, answers, env } = asking;
  const type = 'answer.edit';
  const usual = (provider: string) => environmentAddress(provider, env);
  switch (step) {
    case 'name':
      return { type, step, value: await prompts.text('Name of the agent', answers.name) };
    case 'provider': {
      const choices = providers.map(({ name, label }) => ({
        value: name,
        label: name,
        hint: hasKey(name, env) ? `${label}; its key is in the environment` : label,
      }));
      const value = await prompts.one('Which model provider?', choices, answers.provider);
      return { type, step, value };
    }
    case 'model':
      return { type, step, value: await askModel(prompts, answers, usual) };
    case 'channels':
      return { type, step, value: await askChannels(asking) };
    case 'tools':
      return { type, step, value: await askTools(asking) };
    case 'skills':
      return { type, step, value: await askSkills(asking) };
    case 'fallback':
      return { type, step, value: await askFallback(prompts, answers, usual) };
    case 'auth':
      return { type, step, value: await askAuth(asking) };
    case 'egress':
      return { type, step, value: await askEgress(asking) };
    case 'security':
      return { type, step, value: await askSecurity(asking) };
    case 'approvals':
      return { type, step, value: await askApprovals(asking) };
  }
}

async function askChannels({ prompts, answers }: StepAsking): Promise<AgentAnswers['channels']> {
  const choices = channels.map(({ name, label }) => ({ value: name, label }));
  const chosen = await prompts.many(
    'Which channels for chat and approvals, in addition to the console?',
    choices,
    Object.keys(answers.channels),
  );
  const values: [string, AgentAnswers['channels'][string]][] = [];
  for (const name of chosen) {
    const { fields = [], label = name } = channelOffer(name) ?? {};
    values.push([name, await askFields(prompts, fields, answers.channels[name] ?? {}, label)]);
  }
  return Object.fromEntries(values);
}

async function askTools({ prompts, answers }: StepAsking): Promise<AgentAnswers['tools']> {
  const choices = tools.map(({ name, about }) => ({ value: name, label: name, hint: about }));
  const asked = answers.tools;
  const names = await prompts.many('Which tools?', choices, asked.names);
  let { search, key, commands } = asked;
  if (names.includes('web_search')) {
    const services = searchServices.map(({ name, label }) => ({ value: name, label }));
    search = await prompts.one('Search provider of web_search?', services, search);
    key = (await prompts.secret('Its key (empty: from the environment)')).trim();
  }
  if (names.includes('cli_execute')) {
    const typed = await prompts.text(
      'Which programs may cli_execute run? (jq, pandoc)',
      commands.join(', '),
    );
    commands = splitList(typed);
  }
  return { names, search, key, commands };
}

async function askSkills({ prompts, answers, offer }: StepAsking): Promise<AgentAnswers['skills']> {
  const choices = offer.skills
    .toSorted((one, other) => one.category.localeCompare(other.category))
    .map(({ name, category, description }) => ({
      value: name,
      label: category === '' ? name : `${category}: ${name}`,
      hint: description,
    }));
  const names = await prompts.many('Which skills?', choices, answers.skills.names);
  const skills = { names, variables: answers.skills.variables };
  const given: [string, string][] = [];
  for (const name of skillVariables({ ...answers, skills }, offer)) {
    const value = await prompts.secret(`Value of ${name} (empty: from the environment)`);
    if (value !== '') given.push([name, value]);
  }
  return { names, variables: { ...skills.variables, ...Object.fromEntries(given) } };
}

async function askAuth({ prompts, answers }: StepAsking): Promise<AgentAnswers['auth']> {
  const choices = authOffers.map(({ mode, label }) => ({ value: mode, label }));
  const mode = await prompts.one('How do callers authenticate?', choices, answers.auth.mode);
  const { fields = [] } = authOffer(mode) ?? {};
  const known = mode === answers.auth.mode ? answers.auth.settings : {};
  return { mode, settings: await askFields(prompts, fields, known, '') };
}

async function askEgress({ prompts, answers, hosts }: StepAsking): Promise<AgentAnswers['egress']> {
  const led = hosts();
  const told = led.length === 0 ? 'no host at all' : led.join('\n');
  const message = `Hosts derived from your answers: ${told}\nWhich hosts may tools reach?`;
  const labels = {
    allowlist: 'listed hosts only',
    'deny-all': 'none',
    'dev-open': 'all hosts (development only)',
  };
  const choices = egressModes.map((value) => ({ value, label: labels[value] }));
  const mode = await prompts.one(message, choices, answers.egress.mode);
  if (mode !== 'allowlist') return { mode, hosts: answers.egress.hosts };
  const typed = await prompts.text(
    'Additional hosts? (api.example.com, *.example.org)',
    answers.egress.hosts.join(', '),
  );
  return { mode, hosts: splitList(typed) };
}

async function askSecurity({ prompts, answers }: StepAsking): Promise<AgentAnswers['security']> {
  const variables: [string, string][] = Object.entries(answers.security.variables);
  for (;;) {
    const name = (await prompts.text('Name of an additional variable (empty: none)')).trim();
    if (name === '') break;
    variables.push([name, await prompts.secret(`Value of ${name}`)]);
  }
  return { variables: Object.fromEntries(variables), passphrase: await askPassphrase(prompts) };
}

/** Asked twice: a mistyped passphrase would make the secrets unreadable. */
async function askPassphrase(prompts: Prompts): Promise<string> {
  for (;;) {
    const typed = await prompts.secret('Passphrase to encrypt its secrets (empty: none)');
    if (typed === '' || typed === (await prompts.secret('Confirm passphrase'))) return typed;
  }
}

async function askApprovals(asking: StepAsking): Promise<AgentAnswers['approvals']> {
  const { prompts, answers, offer } = asking;
  const all = toolsOf(answers, offer);
  const message = 'Which tools require approval?';
  const held = await prompts.many(message, all, Object.keys(answers.approvals));
  const asked: [string, AgentAnswers['approvals'][string]][] = [];
  for (const tool of held) {
    const known = answers.approvals[tool] ?? firstApproval;
    const to = await prompts.text(`Approval target of ${tool}?`, known.to);
    const timeout = await prompts.text('Approval timeout?', known.timeout);
    const quorum = Number(await prompts.text('Approvals needed?', String(known.quorum)));
    const words = 'Emails of approvers (empty: anyone notified)';
    const approvers = splitList(await prompts.text(words, known.approvers.join(', ')));
    asked.push([tool, { to, timeout, quorum, approvers }]);
  }
  return Object.fromEntries(asked);
}
