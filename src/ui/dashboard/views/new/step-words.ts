import type { AgentAnswers, Step } from '../../../../machines/wizard/agent-answers.ts';

/** A step's title in the list of steps, and its question. */
export const stepWords: Readonly<Record<Step, { title: string; asks: string }>> = {
  name: { title: 'Name', asks: 'Name' },
  provider: { title: 'Provider', asks: 'Which model provider?' },
  model: { title: 'Model and key', asks: 'Which model, and which authentication?' },
  channels: { title: 'Channels', asks: 'Which channels for chat and approvals?' },
  tools: { title: 'Tools', asks: 'Which tools?' },
  skills: { title: 'Skills', asks: 'Which skills?' },
  fallback: { title: 'Fallback', asks: 'Which fallback models?' },
  auth: { title: 'Auth', asks: 'How do callers authenticate?' },
  egress: { title: 'Egress', asks: 'Which hosts may tools reach?' },
  security: { title: 'Env and security', asks: 'Other variables and encryption' },
  approvals: { title: 'Approvals', asks: 'Which tools require approval, and from whom?' },
  review: { title: 'Review', asks: 'Review' },
};

/** Describes a passphrase's strength by length and variety. */
export function strengthWords(passphrase: string): string {
  const variety = new Set(passphrase).size;
  if (passphrase === '') return 'none: secrets are stored in a file readable by you only';
  if (passphrase.length < 8) return 'too short: at least eight characters';
  if (passphrase.length < 12 || variety < 6) return 'weak: use four words or more';
  if (passphrase.length < 20 || variety < 9) return 'fair';
  return 'strong, unless it is a known phrase';
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
  allowlist: 'listed hosts only',
  'deny-all': 'only hosts the agent itself needs',
  'dev-open': 'all hosts (development only)',
};
