import { parseDuration } from '../duration.ts';
import { namesOnePerson } from '../governance/email.ts';
import { legible } from '../legible.ts';
import {
  type AgentAnswers,
  type ApprovalAnswer,
  agentId,
  isAsked,
  type Step,
  settledAnswers,
  steps,
  toolsOf,
} from './agent-answers.ts';
import { isPlainText, wrongFields } from './field.ts';
import {
  authOffer,
  authOffers,
  channelOffer,
  channels,
  egressModes,
  modelProviders,
  providerOffer,
  providers,
  searchServices,
  tools,
  type WizardOffer,
} from './offers.ts';
import { wrongHost } from './wrong-host.ts';
import { wrongKey, wrongVariables } from './wrong-variables.ts';

/** Maximum number of fallback models. */
const mostFallbacks = 8;

/** Maximum number of listed hosts, and of approvers of one tool. */
const mostEntries = 200;

/** Returns the problem of a step's answer; `null` if it is valid. The message never repeats a secret. */
export function wrongAnswer(step: Step, given: AgentAnswers, offer: WizardOffer): string | null {
  const answers = settledAnswers(given, offer);
  switch (step) {
    case 'name':
      return wrongName(answers.name);
    case 'provider':
      return wrongChoice([answers.provider], namesOf(providers), 'provider');
    case 'model':
      return wrongModel(answers);
    case 'channels':
      return wrongChannels(answers);
    case 'tools':
      return wrongTools({ ...answers.tools, search: given.tools.search });
    case 'skills':
      return (
        wrongChoice(answers.skills.names, namesOf(offer.skills), 'skill of the registry') ??
        wrongRepeats(answers.skills.names) ??
        wrongVariables('skills', answers)
      );
    case 'fallback':
      return wrongFallback(answers);
    case 'auth':
      return wrongAuth(answers);
    case 'egress':
      return wrongEgress(answers);
    case 'security':
      return wrongSecurity(answers);
    case 'approvals':
      return wrongApprovals(answers, offer);
    case 'review':
      return null;
  }
}

/** Returns the first asked step with a problem before another step; `null` if there is none. */
function wrongStepBefore(before: Step, answers: AgentAnswers, offer: WizardOffer): Step | null {
  const earlier = steps.slice(0, steps.indexOf(before));
  const wrong = earlier.find(
    (step) => isAsked(step, answers, offer) && wrongAnswer(step, answers, offer) !== null,
  );
  return wrong ?? null;
}

/** Returns true if a step can be visited: it is asked, and every step before it is valid. */
export function isReachable(step: Step, answers: AgentAnswers, offer: WizardOffer): boolean {
  return isAsked(step, answers, offer) && wrongStepBefore(step, answers, offer) === null;
}

function wrongName(typed: string): string | null {
  const id = agentId(typed);
  const [odd] = /[^\p{L}\p{M}\p{N} _-]/u.exec(typed) ?? [];
  if (id !== '' && id.length <= 64 && odd === undefined) return null;
  const rule = 'the name is at most 64 letters, digits, blanks and hyphens, such as refund-desk';
  return odd === undefined ? rule : `${rule}; ${legible(odd)} is none of these`;
}

function wrongModel({ provider, model }: AgentAnswers): string | null {
  const { address } = providerOffer(provider) ?? {};
  return (
    wrongModelName(model.name, provider) ??
    wrongAddress(model.address, address) ??
    (isPlainText(model.organization) ? null : 'the id of the organisation is one line of text') ??
    wrongKey(model.key)
  );
}

function wrongModelName(name: string, provider: string): string | null {
  // Any name is valid, because providers choose the names of their models.
  const isName =
    name.trim() !== '' && name.trim() !== 'demo' && name.length <= 500 && name.isWellFormed();
  return isName ? null : `name a model of ${provider}`;
}

function wrongAddress(text: string, need: string | undefined): string | null {
  if (text === '' && need !== 'required') return null;
  const url = isPlainText(text) && !/[?#]/.test(text) ? URL.parse(text) : null;
  const isAddress =
    url !== null &&
    ['http:', 'https:'].includes(url.protocol) &&
    url.username === '' &&
    url.password === '';
  return isAddress
    ? null
    : 'this is not the address of a server; write it as https://models.example.com/v1';
}

function wrongChannels({ channels: chosen }: AgentAnswers): string | null {
  const unknown = wrongChoice(Object.keys(chosen), namesOf(channels), 'channel');
  if (unknown !== null) return unknown;
  for (const [name, values] of Object.entries(chosen)) {
    const wrong = wrongFields(channelOffer(name)?.fields ?? [], values);
    if (wrong !== null) return `${name}: ${wrong}`;
  }
  return null;
}

function wrongTools({ names, search, key, commands }: AgentAnswers['tools']): string | null {
  const wrong =
    wrongChoice(names, namesOf(tools), 'tool') ??
    wrongRepeats(names) ??
    wrongChoice([search], namesOf(searchServices), 'search service') ??
    wrongKey(key);
  if (wrong !== null || !names.includes('cli_execute')) return wrong;
  const isRight = (command: string) =>
    isPlainText(command) && /^[A-Za-z0-9][A-Za-z0-9._+-]*$/.test(command);
  if (commands.length === 0 || !commands.every(isRight)) {
    return 'list the programs that cli_execute may run by their bare names, such as jq, pandoc';
  }
  const shell = commands.find((command) => shells.has(command));
  return shell === undefined
    ? null
    : `${shell} is a shell, which would run any program; list those that are needed`;
}

const shells: ReadonlySet<string> = new Set(
  'sh bash dash ash zsh ksh mksh fish csh tcsh busybox'.split(' '),
);

function wrongFallback(answers: AgentAnswers): string | null {
  const { fallback } = answers;
  if (fallback.length > mostFallbacks) return `there are at most ${mostFallbacks} fallbacks`;
  const real = namesOf(modelProviders);
  for (const { provider, name, address, key } of fallback) {
    const wrong =
      wrongChoice([provider], real, 'provider of a fallback') ??
      wrongModelName(name, provider) ??
      wrongAddress(address, providerOffer(provider)?.address) ??
      wrongKey(key);
    if (wrong !== null) return wrong;
  }
  return wrongVariables('fallback', answers);
}

function wrongAuth({ auth: { mode, settings } }: AgentAnswers): string | null {
  const offered = authOffers.map((offer) => offer.mode);
  return (
    wrongChoice([mode], offered, 'way to sign in') ??
    wrongFields(authOffer(mode)?.fields ?? [], settings)
  );
}

function wrongEgress({ egress: { mode, hosts } }: AgentAnswers): string | null {
  const wrong = wrongChoice([mode], egressModes, 'mode of egress');
  if (wrong !== null) return wrong;
  if (hosts.length > mostEntries) return `at most ${mostEntries} hosts are listed`;
  const host = hosts.find((entry) => wrongHost(entry) !== null);
  return host === undefined ? null : wrongHost(host);
}

/** Minimum and maximum length of a passphrase in characters. */
const passphraseLengths = { least: 8, most: 1_024 };

function wrongSecurity(answers: AgentAnswers): string | null {
  const { passphrase } = answers.security;
  const { least, most } = passphraseLengths;
  const isRight =
    passphrase === '' ||
    (passphrase.length >= least &&
      passphrase.length <= most &&
      !/[\p{Cc}\p{Cs}]/u.test(passphrase));
  if (!isRight) return `the passphrase is one line of at least ${least} characters`;
  return wrongVariables('security', answers);
}

function wrongApprovals(answers: AgentAnswers, offer: WizardOffer): string | null {
  const { approvals } = answers;
  const unknown = wrongChoice(
    Object.keys(approvals),
    toolsOf(answers, offer),
    'tool of this agent',
  );
  if (unknown !== null) return unknown;
  for (const [tool, approval] of Object.entries(approvals)) {
    const wrong = wrongTarget(approval.to, answers) ?? wrongTerms(approval);
    if (wrong !== null) return `${tool}: ${wrong}`;
  }
  return null;
}

function wrongTarget(to: string, answers: AgentAnswers): string | null {
  const [, adapter = '', target = ''] = /^channel:([^:\s]+):\s*(\S.*)/u.exec(to) ?? [];
  if (target === '' || !isPlainText(to)) {
    return 'the approval target must be a target such as channel:console:* or channel:slack:#ops';
  }
  if (adapter === 'console' || adapter === 'dashboard') return null;
  if (channelOffer(adapter)?.decides !== true) {
    return `${adapter} does not support approvals; use console, dashboard, slack or webhook`;
  }
  const values = answers.channels[adapter];
  if (values === undefined)
    return `the agent has no channel ${adapter}; enable it, or use another target`;
  if (adapter !== 'webhook') return null;
  const { target: named } = values;
  const isNamed = typeof named === 'string' && target.trim() === named.trim();
  return isNamed ? null : 'the webhook has one receiver; name that one';
}

function wrongTerms({ timeout, quorum, approvers }: ApprovalAnswer): string | null {
  try {
    if (parseDuration(timeout) <= 0)
      return 'the timeout must be above zero; write 90s, 5m or 1h30m';
  } catch (error) {
    return (error as RangeError).message;
  }
  if (!Number.isInteger(quorum) || quorum < 1) return 'the quorum is a whole number, 1 or more';
  if (approvers.length > mostEntries) return `there are at most ${mostEntries} approvers`;
  if (!approvers.every((email) => isPlainText(email) && namesOnePerson(email))) {
    return 'approvers are emails, such as ann@example.com';
  }
  const people = new Set(approvers.map((email) => email.trim().toLowerCase()));
  return quorum === 1 || people.size >= quorum
    ? null
    : `a quorum of ${quorum} needs as many approvers by their emails`;
}

function wrongChoice(
  chosen: readonly string[],
  known: readonly string[],
  what: string,
): string | null {
  const unknown = chosen.find((each) => !known.includes(each));
  if (unknown === undefined) return null;
  const name = unknown !== '' && isPlainText(unknown) ? unknown.slice(0, 80) : 'this';
  return `${name} is not a ${what}; known are ${known.join(', ') || 'none'}`;
}

function wrongRepeats(chosen: readonly string[]): string | null {
  const twice = chosen.find((each, index) => chosen.indexOf(each) < index);
  return twice === undefined ? null : `${twice} is named twice`;
}

function namesOf(offers: readonly { name: string }[]): string[] {
  return offers.map(({ name }) => name);
}
