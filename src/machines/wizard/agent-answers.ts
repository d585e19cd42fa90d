import type { FieldValues } from './field.ts';
import { providerOffer, tools, type WizardOffer } from './offers.ts';

/** The steps, in order (docs/contract/dashboard.md). */
export const steps = [
  'name',
  'provider',
  'model',
  'channels',
  'tools',
  'skills',
  'fallback',
  'auth',
  'egress',
  'security',
  'approvals',
  'review',
] as const;

export type Step = (typeof steps)[number];

/** A step that asks for something. */
export type Question = Exclude<Step, 'review'>;

/** The steps that ask for something, in order. */
export const questions = steps.filter((step): step is Question => step !== 'review');

/** A model that is asked when the one before is busy or out of reach. */
export interface FallbackAnswer {
  provider: string;
  name: string;
  address: string;
  key: string;
}

/** Whom the calls of one tool wait for. */
export interface ApprovalAnswer {
  /** Such as `channel:slack:#ops`. */
  to: string;
  /** Such as `5m`. */
  timeout: string;
  quorum: number;
  /** Emails of those who may decide; empty for whoever is asked. */
  approvers: readonly string[];
}

/**
 * What somebody answered of an agent that is to be, a key for each step: JSON as `POST /api/create` takes it. A step that
 * was not looked at has what it begins with.
 */
export interface AgentAnswers {
  /** As it was typed; `agentId` makes the name of the agent from it. */
  name: string;
  provider: string;
  model: {
    /** Empty for `scripted`. */
    name: string;
    /** Where the provider answers; empty for its usual place. */
    address: string;
    key: string;
    /** The state of a sign-in with the browser that has ended well; empty for a key. */
    session: string;
    organization: string;
  };
  /** The channels that are switched on, with their fields. */
  channels: Readonly<Record<string, FieldValues>>;
  tools: {
    names: readonly string[];
    /** The service that `web_search` asks, and its key. */
    search: string;
    key: string;
    /** The programs that `cli_execute` may run. */
    commands: readonly string[];
  };
  skills: { names: readonly string[]; variables: Readonly<Record<string, string>> };
  fallback: readonly FallbackAnswer[];
  auth: { mode: string; settings: FieldValues };
  /** The hosts are those beside what the other answers lead to. */
  egress: { mode: string; hosts: readonly string[] };
  /** The passphrase encrypts every secret; without one they stand in `.env`. */
  security: { variables: Readonly<Record<string, string>>; passphrase: string };
  /** By tool. */
  approvals: Readonly<Record<string, ApprovalAnswer>>;
}

const firstModel: AgentAnswers['model'] = {
  name: '',
  address: '',
  key: '',
  session: '',
  organization: '',
};

/** What the steps begin with. */
export const firstAnswers: AgentAnswers = {
  name: '',
  provider: 'scripted',
  model: firstModel,
  channels: {},
  tools: { names: ['datetime_now'], search: 'tavily', key: '', commands: [] },
  skills: { names: [], variables: {} },
  fallback: [],
  auth: { mode: 'none', settings: {} },
  egress: { mode: 'allowlist', hosts: [] },
  security: { variables: {}, passphrase: '' },
  approvals: {},
};

/** What the approval of a tool begins with. */
export const firstApproval: ApprovalAnswer = {
  to: 'channel:console:*',
  timeout: '5m',
  quorum: 1,
  approvers: [],
};

/** Makes the name of an agent, in lower case with hyphens, from what was typed; empty when nothing is left. */
export function agentId(typed: string): string {
  return typed
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Lists the tools that an agent has by its answers, builtin ones first, each once. */
export function toolsOf({ tools, skills }: AgentAnswers, offer: WizardOffer): string[] {
  const brought = offer.skills.filter(({ name }) => skills.names.includes(name));
  return [...new Set([...tools.names, ...brought.flatMap((skill) => skill.tools)])];
}

/** Tells whether a step is gone through at all, after what was answered before it. */
export function isAsked(step: Step, answers: AgentAnswers, offer: WizardOffer): boolean {
  const thinks = answers.provider !== 'scripted';
  if (step === 'model' || step === 'fallback') return thinks;
  if (step === 'skills') return offer.skills.length + answers.skills.names.length > 0;
  if (step !== 'approvals') return true;
  return toolsOf(answers, offer).length + Object.keys(answers.approvals).length > 0;
}

/** Returns the answers without what other answers have made pointless, so that nothing is written of it. */
export function settledAnswers(answers: AgentAnswers, offer: WizardOffer): AgentAnswers {
  const { provider, model, tools, skills, fallback, auth } = answers;
  const its = providerOffer(provider);
  const isScripted = provider === 'scripted';
  const variables = new Set(skillVariables(answers, offer));
  const isSignedIn = offer.signIn.includes(provider) && model.session !== '';
  return {
    ...answers,
    model: isScripted
      ? firstModel
      : {
          ...model,
          // What a sign-in has given belongs to the provider alone.
          address: its?.address === 'none' || isSignedIn ? '' : model.address,
          key: its?.variable === null || isSignedIn ? '' : model.key,
          session: isSignedIn ? model.session : '',
          organization: its?.organization === true ? model.organization : '',
        },
    tools: {
      names: tools.names,
      ...(tools.names.includes('web_search')
        ? { search: tools.search, key: tools.key }
        : { search: firstAnswers.tools.search, key: '' }),
      commands: tools.names.includes('cli_execute') ? tools.commands : [],
    },
    skills: {
      names: skills.names,
      variables: Object.fromEntries(
        Object.entries(skills.variables).filter(([name]) => variables.has(name)),
      ),
    },
    fallback: isScripted ? [] : fallback,
    auth: auth.mode === 'none' || auth.mode === 'custom' ? { ...auth, settings: {} } : auth,
  };
}

/** Returns answers in which nobody is asked about a tool that the agent does not have. */
export function withoutLostTools(answers: AgentAnswers, offer: WizardOffer): AgentAnswers {
  const has = new Set(toolsOf(answers, offer));
  const kept = Object.entries(answers.approvals).filter(([tool]) => has.has(tool));
  return { ...answers, approvals: Object.fromEntries(kept) };
}

/** Lists the tools that wait for a person unless somebody says otherwise: builtin ones that change something, and what skills want held. */
export function toolsToHold(
  names: readonly string[],
  skills: WizardOffer['skills'],
): readonly string[] {
  const changing = tools.filter(({ name, changes }) => changes === true && names.includes(name));
  return [...changing.map(({ name }) => name), ...skills.flatMap(({ held }) => held)];
}

/** Returns answers in which these tools wait for somebody, unless it is said whom they wait for. */
export function withHeldTools(answers: AgentAnswers, held: readonly string[]): AgentAnswers {
  const wanted = held.map((tool) => [tool, firstApproval] as const);
  return { ...answers, approvals: { ...Object.fromEntries(wanted), ...answers.approvals } };
}

/** Names the variables that the chosen skills are given, each once. */
export function skillVariables({ skills }: AgentAnswers, offer: WizardOffer): string[] {
  const chosen = offer.skills.filter(({ name }) => skills.names.includes(name));
  const names = chosen.flatMap(({ env }) => [...env.required, ...env.one_of, ...env.optional]);
  return [...new Set(names)];
}
