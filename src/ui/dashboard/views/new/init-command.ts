import { shellWord } from '../../../../machines/shell-word.ts';
import {
  type AgentAnswers,
  agentId,
  firstAnswers,
  firstApproval,
  settledAnswers,
} from '../../../../machines/wizard/agent-answers.ts';
import { agentPlan } from '../../../../machines/wizard/agent-plan.ts';
import type { Field, FieldValues } from '../../../../machines/wizard/field.ts';
import {
  authOffer,
  channelOffer,
  searchServices,
  type WizardOffer,
} from '../../../../machines/wizard/offers.ts';

/** The terminal commands that create the same agent, without secrets. */
export interface InitCommand {
  command: string;
  /** Contents of `answers.json` if flags are not sufficient; `null` if they are. */
  answers: string | null;
  /** Names of the variables in `secrets.env`. */
  variables: string[];
  isEncrypted: boolean;
}

/**
 * Returns the command that creates an agent in a folder, without its secrets; `null` if only the page can create it.
 */
export function initCommand(
  typed: AgentAnswers,
  offer: WizardOffer,
  directory: string,
): InitCommand | null {
  const answers = settledAnswers(typed, offer);
  const variables = [...agentPlan(answers).variables.keys()];
  const plain = withoutSecrets(answers, variables);
  // The variable name of a second key of one provider depends on the key's value, and a sign-in cannot be written as
  // text.
  const isSame =
    answers.model.session === '' &&
    JSON.stringify(agentPlan(plain).service) === JSON.stringify(agentPlan(answers).service);
  if (!isSame) return null;
  const { auth, approvals } = answers;
  const rules = [...new Set(Object.values(approvals).map((rule) => JSON.stringify(rule)))];
  const isFlat = rules.length <= 1 && auth.mode !== 'custom';
  const words = isFlat ? flagsOf(answers) : ['--answers', 'answers.json'];
  const more = [
    ...['--dir', directory],
    ...(variables.length === 0 ? [] : ['--variables', 'secrets.env']),
    '--yes',
  ];
  const name = isFlat ? [agentId(answers.name)] : [];
  return {
    command: ['holdpoint', 'init', ...name, ...words, ...more].map(shellWord).join(' '),
    answers: isFlat ? null : JSON.stringify({ ...plain, security: firstAnswers.security }, null, 2),
    variables,
    isEncrypted: answers.security.passphrase !== '',
  };
}

function withoutSecrets(answers: AgentAnswers, variables: readonly string[]): AgentAnswers {
  const { model, channels, tools, skills, fallback } = answers;
  const plainChannels = Object.entries(channels).map(([name, values]) => {
    const fields = (channelOffer(name)?.fields ?? []).filter(({ kind }) => kind !== 'secret');
    const kept = fields.flatMap(({ name: key }) => {
      const value = values[key];
      return value === undefined ? [] : [[key, value] as const];
    });
    return [name, Object.fromEntries(kept)] as const;
  });
  return {
    ...answers,
    model: { ...model, key: '', session: '' },
    channels: Object.fromEntries(plainChannels),
    tools: { ...tools, key: '' },
    skills: { ...skills, variables: {} },
    fallback: fallback.map((each) => ({ ...each, key: '' })),
    security: {
      variables: Object.fromEntries(variables.map((name) => [name, ''])),
      passphrase: '',
    },
  };
}

function flagsOf(answers: AgentAnswers): string[] {
  const { provider, model, channels, tools, skills, fallback, auth, egress, approvals } = answers;
  const [rule = firstApproval] = Object.values(approvals);
  const usual = searchServices[0].name;
  return [
    ...(provider === firstAnswers.provider ? [] : flag('provider', provider)),
    ...some('model', model.name.trim()),
    ...some('base-url', model.address.trim()),
    ...some('organization-id', model.organization.trim()),
    ...some('channels', Object.keys(channels).join(',')),
    ...Object.entries(channels).flatMap(([name, values]) =>
      settingsOf(channelOffer(name)?.fields ?? [], values).flatMap((setting) =>
        flag('channel-setting', `${name}.${setting}`),
      ),
    ),
    ...(String(tools.names) === String(firstAnswers.tools.names)
      ? []
      : flag('tools', tools.names.join(','))),
    ...(tools.search === usual ? [] : flag('search', tools.search)),
    ...some('commands', tools.commands.join(',')),
    ...some('skills', skills.names.join(',')),
    ...fallback.flatMap((each) => {
      const at = each.address === '' ? '' : `@${each.address.trim()}`;
      return flag('fallback', `${each.provider}/${each.name.trim()}${at}`);
    }),
    ...(auth.mode === 'none' ? [] : flag('auth', auth.mode)),
    ...settingsOf(authOffer(auth.mode)?.fields ?? [], auth.settings).flatMap((setting) =>
      flag('auth-setting', setting),
    ),
    ...(egress.mode === firstAnswers.egress.mode ? [] : flag('egress', egress.mode)),
    ...some('allow', egress.hosts.join(',')),
    // Without this key, the tools that the skills recommend are held.
    ...(Object.keys(approvals).length + skills.names.length === 0
      ? []
      : flag('held', Object.keys(approvals).join(','))),
    ...(rule.to === firstApproval.to ? [] : flag('to', rule.to)),
    ...(rule.timeout === firstApproval.timeout ? [] : flag('timeout', rule.timeout)),
    ...(rule.quorum === firstApproval.quorum ? [] : flag('quorum', String(rule.quorum))),
    ...some('approvers', rule.approvers.join(',')),
  ];
}

function flag(name: string, value: string): string[] {
  return [`--${name}`, value];
}

function some(name: string, value: string): string[] {
  return value === '' ? [] : flag(name, value);
}

/** Formats fields as `issuer=https://id.example.com` and `claim_map.user_id=oid`; omits secrets. */
function settingsOf(fields: readonly Field[], values: FieldValues): string[] {
  return fields.flatMap(({ name, kind }) => {
    const value = values[name];
    if (value === undefined || kind === 'secret') return [];
    if (typeof value === 'string') return value.trim() === '' ? [] : [`${name}=${value.trim()}`];
    if (Array.isArray(value)) return value.length === 0 ? [] : [`${name}=${value.join(',')}`];
    return Object.entries(value).map(([key, text]) => `${name}.${key}=${text.trim()}`);
  });
}
