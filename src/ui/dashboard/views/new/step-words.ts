import type { AgentAnswers, Step } from '../../../../machines/wizard/agent-answers.ts';

/** A step's title in the list of steps, and its question. */
export const stepWords: Readonly<Record<Step, { title: string; asks: string }>> = {
  name: { title: 'Name', asks: 'What is it called?' },
  provider: { title: 'Provider', asks: 'Whose model works on its tasks?' },
  model: { title: 'Model and key', asks: 'Which model, and how is it signed in to?' },
  channels: { title: 'Channels', asks: 'Where do people speak with it and decide?' },
  tools: { title: 'Tools', asks: 'Which tools does it have?' },
  skills: { title: 'Skills', asks: 'Which skills does it have?' },
  fallback: { title: 'Fallback', asks: 'Which models are asked when the first cannot answer?' },
  auth: { title: 'Auth', asks: 'How do callers sign in?' },
  egress: { title: 'Egress', asks: 'Which hosts may it reach?' },
  security: { title: 'Env and security', asks: 'What else does it keep, and how?' },
  approvals: { title: 'Approvals', asks: 'Which tools wait for whom?' },
  review: { title: 'Review', asks: 'Is this right?' },
};

/** Describes a passphrase's strength, judged only by length and variety. */
export function strengthWords(passphrase: string): string {
  const variety = new Set(passphrase).size;
  if (passphrase === '') return 'none: secrets stand in a file that you alone can read';
  if (passphrase.length < 8) return 'too short: eight characters at least';
  if (passphrase.length < 12 || variety < 6) return 'weak: four words or more are better';
  if (passphrase.length < 20 || variety < 9) return 'fair';
  return 'strong, if nobody can look it up';
}

/** Describes which answer a host comes from, by the setting that names it, such as `channels.0`. */
export function originWords(origin: string, { channels, skills }: AgentAnswers): string {
  const [key = '', ...rest] = origin.split('.');
  const at = Number(rest.at(-1));
  if (key === 'channels') return `Channels: ${Object.keys(channels)[at] ?? origin}`;
  if (key === 'model') return rest[0] === 'fallbacks' ? `Fallback ${at + 1}` : 'Model';
  if (key === 'skills') return `Skills: ${skills.names[at] ?? rest.join('.')}`;
  if (key === 'auth') return 'Auth';
  if (key === 'variables') return `Variable ${rest.join('.')}`;
  return key === 'builtin_tools' || key === 'tools' ? 'Tools' : origin;
}

/** Descriptions of the egress modes. */
export const egressWords: Readonly<Record<string, string>> = {
  allowlist: 'the hosts that are listed',
  'deny-all': 'none but those that the agent itself needs',
  'dev-open': 'all hosts, for development alone',
};
