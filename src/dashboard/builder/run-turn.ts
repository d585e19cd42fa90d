import { setImmediate } from 'node:timers/promises';
import type { LanguageModel } from 'ai';
import { type CallbackActorLogic, createActor, fromCallback, waitFor } from 'xstate';
import type { Clock } from '../../actors/ports/clock.ts';
import {
  guardFetch,
  loadProvider,
  PageError,
  TooLongError,
} from '../../actors/providers/providers.ts';
import { causesOf, connectionCode, isBrokenOff } from '../../machines/error-code.ts';
import {
  type BuilderTurnEvent,
  builderTurnMachine,
} from '../../machines/skill-builder/builder-turn-machine.ts';
import type { WrittenSkill } from '../../machines/skill-builder/written-skill.ts';
import type { AskedModel } from './builder-model.ts';
import type { BuilderMessage } from './builder-prompt.ts';

/** The model reached its token limit in the middle of an answer. */
class CutShortError extends Error {}

/**
 * Describes in a sentence why a model call failed. Repeats no text of the provider, which may quote the key or the
 * prompt.
 */
function failureWords(error: unknown, { provider, model, address }: AskedModel): string {
  const who = `${provider} ${model}`;
  const place = `${provider} at ${URL.parse(address)?.origin ?? address}`;
  const all = causesOf(error);
  if (error instanceof CutShortError) {
    return `${who} ran out of tokens; request less at once`;
  }
  if (all.some((cause) => cause instanceof TooLongError)) {
    return `the answer of ${who} is too long; ask for less`;
  }
  if (all.some((cause) => cause instanceof PageError)) {
    return `${place} returned an HTML page; check base_url in the settings`;
  }
  const status = all.map(statusOf).find((found) => found !== null) ?? null;
  if (status !== null && (status < 200 || status >= 300)) return ofStatus(status, who, place);
  const code = connectionCode(error);
  if (status === null && code !== null && !isBrokenOff(error)) {
    return `${place} could not be reached (${code}); check base_url in the settings, and the network`;
  }
  return `the answer of ${who} broke off; try again`;
}

function ofStatus(status: number, who: string, place: string): string {
  if (status === 401 || status === 403) {
    return `${place} refused the key (${status}); give the right one in the settings`;
  }
  if (status === 404) return `${place} does not know the model (404); check it in the settings`;
  if (status === 413) return `the conversation is too long for ${who} (413); start a new one`;
  if (status === 429) return `${who} is rate limited (429); wait, or raise its limit`;
  if (status >= 500) return `${who} failed (${status}); try again`;
  if (status < 400) {
    return `${place} answered with a redirect (${status}), which is not followed; check base_url`;
  }
  return `${who} rejected the request (${status}); check the model and the key in the settings`;
}

function statusOf(error: Error): number | null {
  const { statusCode: status } = error as Error & { statusCode?: unknown };
  return typeof status === 'number' && status >= 100 && status < 600 ? status : null;
}

/** Receives the events of one turn. */
export interface BuilderEar {
  onToken(text: string): void;
  onMessage(content: string): void;
  onDraft(draft: WrittenSkill): void;
  /** The last event, unless the client has disconnected. `error` is a sentence. */
  onEnd(error: string | null): void;
}

export interface TurnRequest {
  asked: AskedModel;
  prompt: string;
  messages: readonly BuilderMessage[];
  clock: Clock;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

const mebibyte = 1024 * 1024;

/** A provider's stream is about thirty times the size of its text, since each word is a separate event. */
const bounds = { bytes: 64 * mebibyte, errorBytes: 64 * 1024 };

/** Number of stream parts read before yielding to the event loop. */
const piecesAtOnce = 64;

/** Runs one turn of the model and emits its output as it arrives. Resolves once the turn has ended; never rejects. */
export async function runTurn(request: TurnRequest, ear: BuilderEar): Promise<void> {
  const { clock, signal } = request;
  const machine = builderTurnMachine.provide({
    actors: { converse: converse(request) },
    actions: {
      tellToken: (_, { text }) => (text === '' ? undefined : ear.onToken(text)),
      tellMessage: (_, { content }) => (content === '' ? undefined : ear.onMessage(content)),
      tellDraft: (_, { draft }) => (draft === null ? undefined : ear.onDraft(draft)),
      tellDone: () => ear.onEnd(null),
      tellError: (_, { error }) => ear.onEnd(error),
    },
  });
  const actor = createActor(machine, { clock }).start();
  const leave = (): void => actor.send({ type: 'client.left' });
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    await waitFor(actor, ({ status }) => status !== 'active');
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function converse(request: TurnRequest): CallbackActorLogic<BuilderTurnEvent> {
  return fromCallback(({ sendBack }) => {
    const over = new AbortController();
    const tell = (event: BuilderTurnEvent): void => {
      if (!over.signal.aborted) sendBack(event);
    };
    const say = (text: string): void => tell({ type: 'piece.heard', text });
    ask(request, over.signal, say).then(
      () => tell({ type: 'model.finished' }),
      (error: unknown) =>
        tell({ type: 'model.failed', message: failureWords(error, request.asked) }),
    );
    return () => over.abort();
  });
}

/** Calls the model once, without retries. Rejects with the original error. */
async function ask(
  { asked, prompt, messages }: TurnRequest,
  abortSignal: AbortSignal,
  say: (text: string) => void,
): Promise<void> {
  const model = await modelOf(asked);
  const { streamText } = await import('ai');
  const { stream } = streamText({
    model,
    instructions: prompt,
    messages: [...messages],
    abortSignal,
    maxRetries: 0,
    telemetry: { isEnabled: false },
    // Disables storage of finished responses at the provider.
    providerOptions: { openai: { store: false } },
    // Never downloads a URL from a message; its author could target any host.
    experimental_download: async (files) => files.map(() => null),
    onError: () => undefined,
  });
  let isWhole = false;
  let count = 0;
  for await (const part of stream) {
    count += 1;
    if (count % piecesAtOnce === 0) await setImmediate();
    switch (part.type) {
      case 'text-delta':
        say(part.text);
        break;
      case 'reasoning-delta':
        // Reasoning counts as activity, so the silence timeout does not fire.
        say('');
        break;
      case 'error':
        throw part.error;
      case 'finish':
        if (part.finishReason === 'length') throw new CutShortError();
        isWhole = part.finishReason !== 'error' && part.rawFinishReason !== undefined;
        break;
      default:
    }
  }
  if (!isWhole) throw new TypeError('the answer broke off');
}

async function modelOf(asked: AskedModel): Promise<Exclude<LanguageModel, string>> {
  const { provider, model, address: baseURL, api, apiKey, organization } = asked;
  // Keeps the warnings of the AI SDK off the console.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const fetch = guardFetch(globalThis.fetch, bounds);
  const loaded = await loadProvider({ provider, baseURL, apiKey, organization, fetch });
  return loaded.language(model, api);
}
