import type { FieldValues } from './field.ts';
import { gateProvider, providerOffer, tools, type WizardOffer } from './offers.ts';

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

/** A step with a question. */
export type Question = Exclude<Step, 'review'>;

/** The steps with a question, in order. */
export const questions = steps.filter((step): step is Question => step !== 'review');

/** A model that is called if the one before it is busy or unreachable. */
export interface FallbackAnswer {
  provider: string;
  name: string;
  address: string;
  key: string;
}

/** The approval settings of one tool. */
export interface ApprovalAnswer {
  /** A target such as `channel:slack:#ops`. */
  to: string;
  /** A duration such as `5m`. */
  timeout: string;
  quorum: number;
  /** Emails of the approvers; empty if any asked person may decide. */
  approvers: readonly string[];
}

/** The answers for a new agent, one key per step: the JSON of `POST /api/create`. Skipped steps have their defaults. */
export interface AgentAnswers {
  /** As typed; `agentId` derives the agent's name from it. */
  name: string;
  provider: string;
  model: {
    /** Empty for `scripted`. */
    name: string;
    /** Base URL of the provider; empty for its default. */
    address: string;
    key: string;
    /** State of a completed browser sign-in; empty if an API key is used. */
    session: string;
    organization: string;
  };
  /** The enabled channels with their fields. */
  channels: Readonly<Record<string, FieldValues>>;
  tools: {
    names: readonly string[];
    /** The search service for `web_search`, and its key. */
    search: string;
    key: string;
    /** The programs allowed for `cli_execute`. */
    commands: readonly string[];
  };
  skills: { names: readonly string[]; variables: Readonly<Record<string, string>> };
  fallback: readonly FallbackAnswer[];
  auth: { mode: string; settings: FieldValues };
  /** `hosts` are in addition to the hosts named by the other answers. */
  egress: { mode: string; hosts: readonly string[] };
  /** The passphrase encrypts every secret. Without one, secrets are stored in `.env`. */
  security: { variables: Readonly<Record<string, string>>; passphrase: string };
  /** By tool name. */
  approvals: Readonly<Record<string, ApprovalAnswer>>;
}

const firstModel: AgentAnswers['model'] = {
  name: '',
  address: '',
  key: '',
  session: '',
  organization: '',
};

/** The default answers. */
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

/** The default approval settings of a tool. */
export const firstApproval: ApprovalAnswer = {
  to: 'channel:console:*',
  timeout: '5m',
  quorum: 1,
  approvers: [],
};

/** Derives an agent's name, lower-case words with hyphens, from typed text; empty if no valid character remains. */
export function agentId(typed: string): string {
  return typed
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Lists the tools of the agent without duplicates, builtin ones first. */
export function toolsOf({ tools, skills }: AgentAnswers, offer: WizardOffer): string[] {
  const brought = offer.skills.filter(({ name }) => skills.names.includes(name));
  return [...new Set([...tools.names, ...brought.flatMap((skill) => skill.tools)])];
}

/** Steps of a gate, which is created from its example. */
const stepsOfGate: ReadonlySet<Step> = new Set<Step>(['name', 'provider', 'review']);

/** Returns true if a step is asked, given the earlier answers. */
export function isAsked(step: Step, answers: AgentAnswers, offer: WizardOffer): boolean {
  if (answers.provider === gateProvider) return stepsOfGate.has(step);
  const thinks = answers.provider !== 'scripted';
  if (step === 'model' || step === 'fallback') return thinks;
  if (step === 'skills') return offer.skills.length + answers.skills.names.length > 0;
  if (step !== 'approvals') return true;
  return toolsOf(answers, offer).length + Object.keys(answers.approvals).length > 0;
}

/** Removes answers made irrelevant by other answers, so that they are not written. */
export function settledAnswers(answers: AgentAnswers, offer: WizardOffer): AgentAnswers {
  const { name, provider, model, tools, skills, fallback, auth } = answers;
  if (provider === gateProvider) return { ...firstAnswers, name, provider };
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
          // The token of a sign-in must only be sent to the provider itself.
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

/** Removes approval settings of tools that the agent does not have. */
export function withoutLostTools(answers: AgentAnswers, offer: WizardOffer): AgentAnswers {
  const has = new Set(toolsOf(answers, offer));
  const kept = Object.entries(answers.approvals).filter(([tool]) => has.has(tool));
  return { ...answers, approvals: Object.fromEntries(kept) };
}

/**
 * Lists the tools that are held by default: builtin tools that change something, and the tools that skills recommend to
 * hold.
 */
export function toolsToHold(
  names: readonly string[],
  skills: WizardOffer['skills'],
): readonly string[] {
  const changing = tools.filter(({ name, changes }) => changes === true && names.includes(name));
  return [...changing.map(({ name }) => name), ...skills.flatMap(({ held }) => held)];
}

/** Adds default approval settings for these tools; existing settings stay. */
export function withHeldTools(answers: AgentAnswers, held: readonly string[]): AgentAnswers {
  const wanted = held.map((tool) => [tool, firstApproval] as const);
  return { ...answers, approvals: { ...Object.fromEntries(wanted), ...answers.approvals } };
}

/** Lists the variables of the chosen skills without duplicates. */
export function skillVariables({ skills }: AgentAnswers, offer: WizardOffer): string[] {
  const chosen = offer.skills.filter(({ name }) => skills.names.includes(name));
  const names = chosen.flatMap(({ env }) => [...env.required, ...env.one_of, ...env.optional]);
  return [...new Set(names)];
}
