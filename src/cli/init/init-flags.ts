import {
  type AgentAnswers,
  firstApproval,
  type Question,
} from '../../machines/wizard/agent-answers.ts';
import { type FieldValue, splitList } from '../../machines/wizard/field.ts';
import { authOffer, channelOffer } from '../../machines/wizard/offers.ts';
import type { AnswerEdit } from '../../machines/wizard/wizard-machine.ts';

/** The flags of `init` that answer a step. Secrets have no flag, because other users can see command lines. */
export interface AnswerFlags {
  provider?: string;
  model?: string;
  baseUrl?: string;
  organizationId?: string;
  channels?: string[];
  channelSetting?: string[];
  tools?: string[];
  search?: string;
  commands?: string[];
  skills?: string[];
  fallback?: string[];
  auth?: string;
  authSetting?: string[];
  egress?: string;
  allow?: string[];
  held?: string[];
  to?: string;
  timeout?: string;
  quorum?: number;
  approvers?: string[];
}

/** Answers given in addition to the flags. */
export interface GivenExtras {
  name: string | undefined;
  /** The variables from `--variables`; `null` without the flag. */
  variables: Readonly<Record<string, string>> | null;
  passphrase: string | null;
}

/** Applies a step's flags to the current answers; `null` if no flag was given. */
export function answerByFlags(
  step: Question,
  answers: AgentAnswers,
  flags: AnswerFlags,
  extras: GivenExtras,
): AnswerEdit | null {
  const type = 'answer.edit';
  switch (step) {
    case 'name':
      return extras.name === undefined ? null : { type, step, value: extras.name };
    case 'provider':
      return flags.provider === undefined ? null : { type, step, value: flags.provider };
    case 'model': {
      const { model: name, baseUrl: address, organizationId: organization } = flags;
      const given = defined({ name, address, organization });
      return given === null ? null : { type, step, value: { ...answers.model, ...given } };
    }
    case 'channels': {
      const names = flags.channels;
      if (names === undefined) return null;
      const value = names.map((name) => [name, channelSettings(name, flags, answers)] as const);
      return { type, step, value: Object.fromEntries(value) };
    }
    case 'tools': {
      const { tools: names, search, commands } = flags;
      const given = defined({ names, search, commands });
      return given === null ? null : { type, step, value: { ...answers.tools, ...given } };
    }
    case 'skills':
      return flags.skills === undefined
        ? null
        : { type, step, value: { ...answers.skills, names: flags.skills } };
    case 'fallback':
      return flags.fallback === undefined
        ? null
        : { type, step, value: flags.fallback.map(readFallback) };
    case 'auth': {
      const { auth: mode } = flags;
      if (mode === undefined) return null;
      const settings = settingsOf(flags.authSetting ?? [], authOffer(mode)?.fields ?? []);
      return { type, step, value: { mode, settings } };
    }
    case 'egress': {
      const given = defined({ mode: flags.egress, hosts: flags.allow });
      return given === null ? null : { type, step, value: { ...answers.egress, ...given } };
    }
    case 'security': {
      const { variables, passphrase } = extras;
      if (variables === null && passphrase === null) return null;
      const given = {
        variables: { ...answers.security.variables, ...variables },
        passphrase: passphrase ?? answers.security.passphrase,
      };
      return { type, step, value: given };
    }
    case 'approvals':
      return approvalsByFlags(answers, flags);
  }
}

/** Flags apply the same setting to every held tool; `--answers` sets each tool separately. */
function approvalsByFlags(
  { approvals }: AgentAnswers,
  { held, to, timeout, quorum, approvers }: AnswerFlags,
): AnswerEdit | null {
  const terms = defined({ to, timeout, quorum, approvers });
  if (held === undefined && terms === null) return null;
  const names = held ?? Object.keys(approvals);
  const value = names.map((tool) => [tool, { ...firstApproval, ...approvals[tool], ...terms }]);
  return {
    type: 'answer.edit',
    step: 'approvals',
    value: Object.fromEntries(value) as AgentAnswers['approvals'],
  };
}

type Given<Values> = { [Key in keyof Values]?: Exclude<Values[Key], undefined> };

/** Removes undefined values; `null` if none is left. */
function defined<Values extends object>(values: Values): Given<Values> | null {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return given.length === 0 ? null : (Object.fromEntries(given) as Given<Values>);
}

/** Reads `provider/model`, optionally followed by `@` and the URL of a self-hosted server. */
function readFallback(text: string): AgentAnswers['fallback'][number] {
  const [, model = text, address = ''] = /^(.*)@(https?:\/\/.*)$/.exec(text) ?? [];
  const [provider = '', ...name] = model.split('/');
  return { provider, name: name.join('/'), address, key: '' };
}

/** Reads channel settings of the form `slack.something=value`. */
function channelSettings(
  channel: string,
  { channelSetting = [] }: AnswerFlags,
  { channels }: AgentAnswers,
) {
  const own = channelSetting
    .filter((setting) => setting.startsWith(`${channel}.`))
    .map((setting) => setting.slice(channel.length + 1));
  const fields = (channelOffer(channel)?.fields ?? []).filter(({ kind }) => kind !== 'secret');
  return { ...channels[channel], ...settingsOf(own, fields) };
}

/** Reads settings such as `issuer=https://id.example.com` and `claim_map.user_id=oid`. */
function settingsOf(
  settings: readonly string[],
  fields: readonly { name: string; kind: string }[],
): AgentAnswers['auth']['settings'] {
  const maps = new Map<string, Record<string, string>>();
  const read = settings.flatMap((setting) => {
    const at = setting.indexOf('=');
    const [name = '', key] = setting.slice(0, Math.max(0, at)).trim().split('.');
    const value = setting.slice(at + 1).trim();
    const kind = fields.find((field) => field.name === name)?.kind;
    if (kind === undefined) return [[name, value] as const];
    if (kind !== 'map') return [[name, kind === 'list' ? splitList(value) : value] as const];
    const map = maps.get(name) ?? {};
    maps.set(name, { ...map, [key ?? '']: value });
    return [];
  });
  return Object.fromEntries<FieldValue>([...read, ...maps]);
}
