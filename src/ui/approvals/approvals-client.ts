import {
  type AuthenticationResponseJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import type { z } from 'zod';
import type {
  ConfirmationQuestionJson,
  DeviceJson,
  DeviceListJson,
  PasskeyJson,
  PasskeyListJson,
  RegistrationQuestionJson,
  SessionJson,
  SignedOutJson,
} from '../../http/wire/approvals-page.ts';
import type { GrantJson } from '../../http/wire/dashboard/grant-json.ts';
import type { DecisionsJson, DeferralJson } from '../../http/wire/dashboard/held-call-json.ts';
import type { decidedPage } from '../../http/wire/decided-call.ts';
import type { delegation } from '../../http/wire/delegation.ts';
import { ApiError } from '../dashboard/api/api-error.ts';
import { sentenceOf } from '../dashboard/api/sentence-of.ts';
import type {
  DecisionDetails,
  DecisionOutcome,
  PasskeyOutcome,
  QuestionOutcome,
  SentDecision,
  Verb,
} from '../dashboard/views/approvals/decision-machine.ts';
import { sendDecisions } from '../dashboard/views/approvals/send-decisions.ts';
import type { CallOutcome } from '../dashboard/views/approvals/several-words.ts';

type DecidedJson = z.output<typeof decidedPage>['deferrals'][number];

export type DelegationJson = z.output<typeof delegation>;

/** The calls of the person: those that wait, and those that the person decided. */
export interface Calls {
  waiting: DeferralJson[];
  decided: DecidedJson[];
  /** Approvals in advance that the person gave or profits from. */
  grants: GrantJson[];
  /** Rights to decide that the person gave or received. */
  delegations: DelegationJson[];
  /** IDs of agents that did not return their calls. */
  unasked: string[];
}

/** A held call with all that the person may read. */
export type CallJson = DeferralJson & { may_decide: boolean };

/** The client of the page's routes. The browser sends the cookie of the session, which no script can read. */
export class ApprovalsClient {
  /** Called after a decision and after a change of grants or delegations. */
  changed: () => void = () => undefined;
  /** Milliseconds that the session had left at the last answer with its time; `null` before. */
  left: number | null = null;
  /** Called with the milliseconds after which the session ends, whenever its idle time starts again. */
  renewed: (left: number) => void = () => undefined;
  /** Called when the session has ended. */
  ended: () => void = () => undefined;
  readonly #heard: (at: number) => void;
  #session: SessionJson | null = null;

  /** `heard` receives the time of the daemon in epoch milliseconds. */
  constructor(heard: (at: number) => void) {
    this.#heard = heard;
  }

  /** Returns the session; `null` without one. Rejects with ApiError. */
  async session(): Promise<SessionJson | null> {
    try {
      this.#session = await this.#ask<SessionJson>('session');
      return this.#session;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  }

  /** Returns the calls of the person, the earliest deadlines first. Rejects with ApiError. */
  async calls(signal: AbortSignal): Promise<Calls> {
    // A dashboard has calls of several agents, and neither their grants nor their delegations.
    const agent = this.#session?.agent_id ?? null;
    const [waiting, decided, { grants }, { delegations }] = await Promise.all([
      this.#ask<{ deferrals: DeferralJson[]; unasked?: string[] }>(
        'deferrals?order=deadline&limit=100',
        { signal },
      ),
      this.#ask<{ deferrals: DecidedJson[] }>('deferrals?decided_by=me&limit=20', { signal }),
      agent === null
        ? { grants: [] }
        : this.#ask<{ grants: Omit<GrantJson, 'agent_id'>[] }>('grants', { signal }),
      agent === null
        ? { delegations: [] }
        : this.#ask<{ delegations: DelegationJson[] }>('delegations', { signal }),
    ]);
    return {
      waiting: waiting.deferrals.map((one) => this.#ofAgent(one)),
      decided: decided.deferrals,
      grants: grants.map((one) => ({ ...one, agent_id: agent ?? '' })),
      delegations,
      unasked: waiting.unasked ?? [],
    };
  }

  /**
   * Returns one call; `null` if it waits no more, or is not the person's. A request that the page repeats on its own
   * leaves the idle time of the session as it is. Rejects with ApiError.
   */
  async call(
    id: string,
    { signal, isRepeated }: { signal: AbortSignal; isRepeated: boolean },
  ): Promise<CallJson | null> {
    try {
      const path = `deferrals/${encodeURIComponent(id)}${isRepeated ? '?repeated=true' : ''}`;
      return this.#ofAgent(await this.#ask<CallJson>(path, { signal }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null;
      throw error;
    }
  }

  /** Sends a decision on exactly the displayed call. Never rejects. */
  async decide(
    call: DeferralJson,
    { verb, details, answer }: SentDecision,
  ): Promise<DecisionOutcome> {
    const decision = decisionBody(call, verb, details);
    const body = answer === undefined ? decision : { ...decision, passkey: answer };
    try {
      const at = this.#queryOf(call.agent_id);
      const path = `tasks/${encodeURIComponent(call.task_id)}/decisions${at}`;
      const { status } = await this.#ask<{ status: string }>(path, { body });
      this.changed();
      return { kind: status === 'recorded' ? 'recorded' : 'resolved' };
    } catch (error) {
      return unsent(error);
    }
  }

  /** Sends one decision on several calls, each exactly as displayed. Never rejects. */
  async decideSeveral(
    calls: readonly DeferralJson[],
    verb: Verb,
    details: DecisionDetails,
  ): Promise<CallOutcome[]> {
    const post = (agent: string, body: object) =>
      this.#ask<DecisionsJson>(`deferrals/decisions${this.#queryOf(agent)}`, { body });
    const outcomes = await sendDecisions({ post, isPerson: true }, calls, verb, details);
    this.changed();
    return outcomes;
  }

  /** Requests a question about a decision for a passkey. Never rejects. */
  async question(call: DeferralJson, { verb, details }: SentDecision): Promise<QuestionOutcome> {
    try {
      const path = `tasks/${encodeURIComponent(call.task_id)}/questions`;
      const body = decisionBody(call, verb, details);
      return { kind: 'asked', question: await this.#ask<ConfirmationQuestionJson>(path, { body }) };
    } catch (error) {
      return unsent(error);
    }
  }

  /** Has the person answer a question with a passkey. Never rejects. */
  async confirm(question: object): Promise<PasskeyOutcome> {
    // Safe to cast: `question` has returned it.
    const { nonce, options } = question as ConfirmationQuestionJson;
    try {
      const { id, rawId, type, response } = await startAuthentication({ optionsJSON: options });
      const answer = { nonce, response: { id, rawId, type, response } };
      return { kind: 'confirmed', answer: answer satisfies SentAssertion };
    } catch {
      const problem = 'The passkey did not answer, so nothing was decided. Try again.';
      return { kind: 'refused', problem };
    }
  }

  /** Returns the devices with notifications of the person, and the key for a new one. Rejects with ApiError. */
  devices(): Promise<DeviceListJson> {
    return this.#ask<DeviceListJson>('devices');
  }

  /** Sends notifications to a subscription of this browser. Rejects with ApiError. */
  async addDevice({
    endpoint,
    keys,
  }: {
    endpoint?: string;
    keys?: Record<string, string>;
  }): Promise<void> {
    await this.#ask<DeviceJson>('devices', { body: { endpoint, keys } });
  }

  /** Ends the notifications of a device. Rejects with ApiError. */
  async removeDevice(id: string): Promise<void> {
    await this.#ask<null>(`devices/${encodeURIComponent(id)}/removal`, { body: {} });
  }

  /** Returns the passkeys of the person, oldest first. Rejects with ApiError. */
  async passkeys(): Promise<PasskeyJson[]> {
    return (await this.#ask<PasskeyListJson>('passkeys')).passkeys;
  }

  /** Has the person create a passkey, and registers it. Rejects with an error whose message is a sentence. */
  async addPasskey(name: string): Promise<void> {
    const { nonce, options } = await this.#ask<RegistrationQuestionJson>('passkeys/questions', {
      body: {},
    });
    const response = await startRegistration({ optionsJSON: options }).catch(() => {
      throw new Error('The browser created no passkey. Try again.');
    });
    await this.#ask<PasskeyJson>('passkeys', { body: { name, nonce, response } });
  }

  /** Removes a passkey of the person. Rejects with ApiError. */
  async removePasskey(id: string): Promise<void> {
    await this.#ask<null>(`passkeys/${encodeURIComponent(id)}/removal`, { body: {} });
  }

  /** Ends an approval in advance. Rejects with ApiError. */
  async revoke({ id }: GrantJson): Promise<void> {
    await this.#ask(`grants/${encodeURIComponent(id)}`, { method: 'DELETE' });
    this.changed();
  }

  /** Lets another person decide for this one until a time. Rejects with ApiError. */
  async delegate(to: string, until: Date): Promise<void> {
    await this.#ask('delegations', { body: { to, until: until.toISOString() } });
    this.changed();
  }

  /** Ends a delegation. Rejects with ApiError. */
  async endDelegation({ id }: DelegationJson): Promise<void> {
    await this.#ask(`delegations/${encodeURIComponent(id)}`, { method: 'DELETE' });
    this.changed();
  }

  /** Ends the session; returns where the issuer ends its own. Rejects with ApiError. */
  async signOut(): Promise<string | null> {
    return (await this.#ask<SignedOutJson>('sign-out', { body: {} })).to;
  }

  /** Names the agent of a call to a dashboard, which has calls of several agents. */
  #queryOf(agent: string): string {
    const isOne = typeof this.#session?.agent_id === 'string';
    return isOne ? '' : `?agent=${encodeURIComponent(agent)}`;
  }

  /** The daemon of one agent sends calls without its name. */
  #ofAgent<Call extends DeferralJson>(call: Call): Call {
    const agent = this.#session?.agent_id ?? null;
    return agent === null ? call : { ...call, agent_id: agent };
  }

  async #ask<T>(
    path: string,
    { body, method = body === undefined ? 'GET' : 'POST', signal }: Asking = {},
  ): Promise<T> {
    const headers = {
      'content-type': 'application/json',
      'x-holdpoint-csrf': this.#session?.csrf ?? '',
    };
    const response = await fetch(`./api/${path}`, {
      method,
      ...(method === 'GET' ? {} : { headers }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
    }).catch(() => {
      throw new ApiError(0, 'The agent is not responding. Try again later.');
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) this.#heard(date);
    const seconds = Number(response.headers.get('x-holdpoint-session-seconds') ?? Number.NaN);
    if (!Number.isNaN(seconds)) {
      this.left = seconds * 1_000;
      this.renewed(this.left);
    }
    const read: unknown = await response.json().catch(() => null);
    if (response.ok) return read as T;
    if (response.status === 401) this.ended();
    throw new ApiError(response.status, sentenceIn(response.status, read), read);
  }
}

/** The answer of a passkey as it is sent, without its optional members. */
interface SentAssertion {
  nonce: string;
  response: Pick<AuthenticationResponseJSON, 'id' | 'rawId' | 'type' | 'response'>;
}

function decisionBody(
  { id, args_sha256, runs_sha256 }: DeferralJson,
  verb: Verb,
  { note, args, remember }: DecisionDetails,
) {
  return {
    decision: verb,
    deferral_id: id,
    args_sha256,
    ...(runs_sha256 === undefined ? {} : { runs_sha256 }),
    ...(note === '' ? {} : { note }),
    ...(args === undefined ? {} : { args }),
    ...(remember === undefined ? {} : { remember }),
  };
}

function unsent(error: unknown): { kind: 'over' | 'refused'; problem: string } {
  const isOver = error instanceof ApiError && [404, 409].includes(error.status);
  return { kind: isOver ? 'over' : 'refused', problem: sentenceOf(error) };
}

interface Asking {
  /** POST by default if there is a body. */
  method?: 'GET' | 'POST' | 'DELETE';
  body?: object;
  signal?: AbortSignal;
}

function sentenceIn(status: number, body: unknown): string {
  const { error, decision, approver } = (body ?? {}) as Record<string, unknown>;
  if (typeof decision === 'string') {
    const by = typeof approver === 'string' ? ` by ${approver}` : '';
    return `Already decided: ${decision}${by}.`;
  }
  if (status === 401) return 'Your session has ended. Sign in again.';
  const text = typeof error === 'string' ? error : `the agent answered ${status}`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
