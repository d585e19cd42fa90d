import { channelSchemas, formatProblem, parseConfig } from '../../actors/config/config.ts';
import type { DerivedEndpoint } from '../../actors/outbound/outbound.ts';
import type { AgentAnswers } from '../../machines/wizard/agent-answers.ts';
import { type AgentPlan, agentPlan } from '../../machines/wizard/agent-plan.ts';
import { modelVariable } from '../../machines/wizard/agent-variables.ts';
import type { SkillOffer } from '../../machines/wizard/offers.ts';
import { variableHosts } from '../../machines/wizard/variable-hosts.ts';
import { channelText, serviceText } from '../create/service-text.ts';
import { type ChannelAddresses, derivedEndpoints } from './derived-endpoints.ts';

/** The agent that the answers would create, without secrets. */
export interface AgentPreview {
  agentId: string;
  /** File contents by file name. */
  files: Readonly<Record<string, string>>;
  /** The hosts that the answers name, each with its setting; empty while an answer is invalid. */
  hosts: { host: string; origin: string }[];
  /** Names of the variables to be stored for the agent. */
  variables: string[];
  /** Names of the variables that the environment must provide. */
  missing: string[];
  problems: string[];
}

/** Previews the agent for the given answers, including answers that are still invalid. */
export function previewAgent(answers: AgentAnswers, skills: readonly SkillOffer[]): AgentPreview {
  const plan = agentPlan(answers);
  const text = serviceText(plan);
  const keys = [...plan.variables.keys(), ...plan.missing].map((name) => [name, 'unset']);
  const env = Object.fromEntries(keys) as Record<string, string>;
  const reading = parseConfig(text, { file: 'service.yaml', env });
  // The token of a browser sign-in is stored like an API key.
  const key = answers.model.session === '' ? null : modelVariable(answers);
  const signedIn = key === null ? [] : [key];
  const chosen = skills.filter(({ name }) => plan.skills.includes(name));
  const endpoints = !reading.ok
    ? []
    : derivedEndpoints(reading.config, {
        env,
        admissionUrl: null,
        tracingUrl: null,
        channels: addressesOf(plan, reading.config.channels),
        skills: chosen.map(({ name, egress_domains: domains }) => ({
          id: name,
          egressDomains: [...domains],
        })),
      });
  return {
    agentId: plan.agentId,
    files: {
      'service.yaml': text,
      ...Object.fromEntries(
        Object.entries(plan.channelFiles).map(([name, content]) => [
          name,
          channelText(name, content),
        ]),
      ),
    },
    hosts: [
      ...endpoints.filter(isEntry).map(({ host, port, source }) => ({
        host: port === 443 ? host : `${host}:${port}`,
        origin: source,
      })),
      ...(reading.ok && answers.egress.mode === 'allowlist' ? variableHosts(answers) : []).map(
        ({ host, name }) => ({ host, origin: `variables.${name}` }),
      ),
    ],
    variables: [...plan.variables.keys(), ...signedIn.filter((name) => !plan.variables.has(name))],
    missing: [...plan.missing],
    problems: reading.ok ? [] : reading.problems.map(formatProblem),
  };
}

/** A host without a port is one entry that covers HTTPS and HTTP. */
function isEntry({ host, port, source }: DerivedEndpoint, _: number, all: DerivedEndpoint[]) {
  const isSame = (other: DerivedEndpoint) => other.host === host && other.source === source;
  return port !== 80 || !all.some((other) => isSame(other) && other.port === 443);
}

/** The hosts of the channel files. An agent with the channels' tokens reaches them. */
function addressesOf({ channelFiles }: AgentPlan, channels: readonly string[]): ChannelAddresses {
  const webhook = channelSchemas.webhook.safeParse(channelFiles['webhook-config.yaml'] ?? {});
  const { slack, telegram } = channelSchemas;
  return {
    slack: channels.includes('slack') ? { apiUrl: slack.parse({}).settings.api_url } : null,
    telegram: channels.includes('telegram')
      ? { apiUrl: telegram.parse({}).settings.api_url }
      : null,
    webhook: webhook.success ? { targets: webhook.data.settings.targets } : null,
  };
}
