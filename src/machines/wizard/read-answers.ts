import {
  type AgentAnswers,
  type ApprovalAnswer,
  type FallbackAnswer,
  firstAnswers,
  firstApproval,
  toolsToHold,
  withHeldTools,
} from './agent-answers.ts';
import { type FieldValues, isRecord, readFields, splitList } from './field.ts';
import { authOffer, channelOffer, type WizardOffer } from './offers.ts';

type Sent = Readonly<Record<string, unknown>>;

/**
 * Reads answers from unvalidated JSON (docs/contract/dashboard.md). For each step and each authentication method, known
 * keys are read and all others are silently dropped; missing keys have their defaults. A known key with an invalid
 * value becomes an empty text, which its step reports, so that a mistake never leaves anything open. If approvals are
 * missing, the tools that the chosen skills recommend are held.
 */
export function readAnswers(sent: unknown, skills: WizardOffer['skills']): AgentAnswers {
  const body = recordOf(sent);
  const approvals = own(body, 'approvals');
  const answers: AgentAnswers = {
    name: textOf(body, 'name'),
    provider: textOf(body, 'provider', firstAnswers.provider),
    model: readModel(own(body, 'model')),
    channels: readChannels(own(body, 'channels')),
    tools: readTools(own(body, 'tools')),
    skills: readSkills(own(body, 'skills')),
    fallback: readFallback(own(body, 'fallback')),
    auth: readAuth(own(body, 'auth')),
    egress: readEgress(own(body, 'egress')),
    security: readSecurity(own(body, 'security')),
    approvals: readApprovals(approvals),
  };
  const chosen = skills.filter(({ name }) => answers.skills.names.includes(name));
  return isNothing(approvals)
    ? withHeldTools(answers, toolsToHold(answers.tools.names, chosen))
    : answers;
}

function readModel(sent: unknown): AgentAnswers['model'] {
  if (typeof sent === 'string') return { ...firstAnswers.model, name: sent };
  const model = recordOf(sent);
  return {
    name: textOf(model, 'name'),
    address: textOf(model, 'address'),
    key: textOf(model, 'key').trim(),
    session: textOf(model, 'session'),
    organization: textOf(model, 'organization'),
  };
}

/** A list of names enables each channel without fields. */
function readChannels(sent: unknown): AgentAnswers['channels'] {
  const channels: [string, unknown][] = Array.isArray(sent)
    ? namesOf(sent).map((name) => [name, {}])
    : Object.entries(recordOf(sent)).filter(([name]) => channelOffer(name) !== undefined);
  return Object.fromEntries(
    channels.map(([name, fields]): [string, FieldValues] => [
      name,
      readFields(channelOffer(name)?.fields ?? [], fields),
    ]),
  );
}

function readTools(sent: unknown): AgentAnswers['tools'] {
  const { tools: first } = firstAnswers;
  if (Array.isArray(sent)) return { ...first, names: namesOf(sent) };
  const tools = recordOf(sent);
  return {
    names: listOf(tools, 'names') ?? first.names,
    search: textOf(tools, 'search', first.search),
    key: textOf(tools, 'key').trim(),
    commands: listOf(tools, 'commands') ?? [],
  };
}

function readSkills(sent: unknown): AgentAnswers['skills'] {
  if (Array.isArray(sent)) return { names: namesOf(sent), variables: {} };
  const skills = recordOf(sent);
  return {
    names: listOf(skills, 'names') ?? [],
    variables: readVariables(own(skills, 'variables')),
  };
}

function readFallback(sent: unknown): FallbackAnswer[] {
  const models = Array.isArray(sent) ? sent.filter(isRecord) : [];
  return models.map((each) => ({
    provider: textOf(each, 'provider'),
    name: textOf(each, 'name'),
    address: textOf(each, 'address'),
    key: textOf(each, 'key').trim(),
  }));
}

/** Settings may also be given next to the mode. */
function readAuth(sent: unknown): AgentAnswers['auth'] {
  if (isNothing(sent)) return firstAnswers.auth;
  if (typeof sent === 'string') return { mode: sent, settings: {} };
  if (isRecord(sent) && Object.keys(sent).length === 0) return firstAnswers.auth;
  const auth = recordOf(sent);
  const mode = textOf(auth, 'mode');
  const { fields = [] } = authOffer(mode) ?? {};
  const settings = { ...readFields(fields, auth), ...readFields(fields, own(auth, 'settings')) };
  return { mode, settings };
}

function readEgress(sent: unknown): AgentAnswers['egress'] {
  const egress = recordOf(sent);
  return {
    mode: holdsKeys(sent) ? textOf(egress, 'mode', firstAnswers.egress.mode) : '',
    hosts: listOf(egress, 'hosts') ?? [],
  };
}

function readSecurity(sent: unknown): AgentAnswers['security'] {
  const security = recordOf(sent);
  const isRight = holdsKeys(sent) && isTextOrNone(own(security, 'passphrase'));
  return {
    variables: readVariables(own(security, 'variables')),
    // An invalid passphrase must not lead to unencrypted secrets.
    passphrase: isRight ? textOf(security, 'passphrase') : '\0',
  };
}

function readApprovals(sent: unknown): AgentAnswers['approvals'] {
  if (!holdsKeys(sent)) return { '': readApproval(sent) };
  return Object.fromEntries(
    Object.entries(recordOf(sent)).map(([tool, approval]) => [tool, readApproval(approval)]),
  );
}

function readApproval(sent: unknown): ApprovalAnswer {
  const approval = recordOf(sent);
  const quorum = own(approval, 'quorum');
  return {
    to: isRecord(sent) ? textOf(approval, 'to', firstApproval.to) : '',
    timeout: textOf(approval, 'timeout', firstApproval.timeout),
    quorum: quorum === undefined ? firstApproval.quorum : Number(quorum),
    approvers: listOf(approval, 'approvers') ?? firstApproval.approvers,
  };
}

function isNothing(sent: unknown): boolean {
  return sent === undefined || sent === null;
}

/** Returns true if a value is an object, or absent. */
function holdsKeys(sent: unknown): boolean {
  return isNothing(sent) || isRecord(sent);
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** Variable names are checked by the steps. */
function readVariables(sent: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(recordOf(sent)).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    ),
  );
}

/** Reads only an own property, not an inherited one. */
function own(sent: Sent, key: string): unknown {
  return Object.hasOwn(sent, key) ? sent[key] : undefined;
}

function textOf(sent: Sent, key: string, first = ''): string {
  const value = own(sent, key);
  if (value === undefined) return first;
  return typeof value === 'string' ? value : '';
}

function listOf(sent: Sent, key: string): string[] | null {
  const value = own(sent, key);
  if (value === undefined) return null;
  if (typeof value === 'string') return splitList(value);
  return Array.isArray(value) ? namesOf(value) : [''];
}

function namesOf(list: readonly unknown[]): string[] {
  return list.map((entry) => (typeof entry === 'string' ? entry : ''));
}

function recordOf(sent: unknown): Sent {
  return isRecord(sent) ? sent : {};
}
