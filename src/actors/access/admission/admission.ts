import { type Attributes, SpanStatusCode } from '@opentelemetry/api';
import { createActor, fromPromise } from 'xstate';
import type { AdmissionVerdict } from '../../../machines/admission/admission-answer.ts';
import {
  admissionMachine,
  admissionWindow,
  unasked,
} from '../../../machines/admission/admission-machine.ts';
import { messageOf } from '../../../machines/message-of.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Outbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import { inSpan } from '../../telemetry/telemetry.ts';
import type { AdmissionSettings } from './admission-settings.ts';
import { askPlatform } from './platform-client.ts';

export {
  type AdmissionSettings,
  AdmissionSettingsError,
  type AdmissionSetup,
  admissionFromEnvironment,
} from './admission-settings.ts';
export { AdmissionError, askPlatform, type PlatformReply } from './platform-client.ts';

export interface AdmissionOptions {
  settings: AdmissionSettings;
  agentId: string;
  clock: Clock;
  log: Log;
  /** Egress for requests to the platform; direct when absent. */
  outbound?: Outbound;
}

/** Asks the platform whether new invocations may start (docs/contract/admission.md). */
export class Admission {
  readonly #actor;
  /** Pending verdict callbacks, oldest first. */
  #waiting: ((verdict: AdmissionVerdict) => void)[] = [];
  #fallbacks = 0;

  constructor(options: AdmissionOptions) {
    const { clock, log } = options;
    this.#actor = createActor(chartOf(options), { clock });
    this.#actor.on('admission.answered', ({ verdict }) => this.#answer(verdict));
    this.#actor.subscribe({
      error: (error) => {
        log.error({ error, agent_id: options.agentId }, 'admission: broke, admitting');
        this.#giveUp();
      },
    });
    this.#actor.start();
  }

  /** Resolves with whether an invocation may start. Never rejects: admits when the platform is unreachable. */
  check(): Promise<AdmissionVerdict> {
    return inSpan('admission.check', {}, async (span) => {
      const verdict = await this.#ask();
      if (verdict.fallback) this.#fallbacks += 1;
      span.setAttributes(attributesOf(verdict));
      if (verdict.decision === 'deny') span.setStatus({ code: SpanStatusCode.ERROR });
      return verdict;
    });
  }

  /** Returns the number of requests admitted because the platform was unreachable. */
  fallbacks(): number {
    return this.#fallbacks;
  }

  /** Aborts a running call and admits every request from then on. */
  stop(): void {
    this.#actor.stop();
    this.#giveUp();
  }

  #ask(): Promise<AdmissionVerdict> {
    const { promise, resolve } = Promise.withResolvers<AdmissionVerdict>();
    this.#waiting.push(resolve);
    if (this.#actor.getSnapshot().status === 'active') this.#actor.send({ type: 'admission.ask' });
    else this.#giveUp();
    return promise;
  }

  #answer(verdict: AdmissionVerdict): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [index, answer] of waiting.entries()) {
      // The first request triggered the call; the others share its result and are marked `cached`.
      answer(index === 0 ? verdict : { ...verdict, cached: true });
    }
  }

  #giveUp(): void {
    this.#answer({ ...unasked, cached: false });
  }
}

/** Creates the chart with its ports bound. */
function chartOf({ settings, agentId, clock, log, outbound }: AdmissionOptions) {
  return admissionMachine.provide({
    actors: {
      askPlatform: fromPromise(
        async ({ signal }) => (await askPlatform(settings, agentId, signal, outbound)).answer,
      ),
    },
    actions: {
      noteFailure: (_, { error }) =>
        log.warn(
          {
            agent_id: agentId,
            error: messageOf(error),
            cached_until: new Date(clock.now() + admissionWindow).toISOString(),
          },
          'admission: call failed, admitting',
        ),
    },
  });
}

/** Returns the span attributes of a verdict (docs/contract/admission.md). */
function attributesOf(verdict: AdmissionVerdict): Attributes {
  return {
    'forge.admission.decision': verdict.decision,
    'forge.admission.reason': verdict.reason,
    'forge.admission.scope': verdict.scope,
    'forge.admission.window': verdict.window,
    'forge.admission.cached': verdict.cached,
    'forge.admission.fallback': verdict.fallback,
  };
}
