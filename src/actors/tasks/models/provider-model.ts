import type * as Library from 'ai';
import { formatDuration } from '../../../machines/duration.ts';
import { cutToRunes } from '../../../machines/text.ts';
import type { Clock, Conversation, Tool, Turn } from '../../ports.ts';
import type { Provider } from '../../providers/providers.ts';
import { failureOfError } from './failure-of-error.ts';
import { ModelFailure } from './model-failure.ts';
import { endpointOf, type ModelSubject, nameOf } from './model-subject.ts';
import { promptMessages } from './prompt-messages.ts';
import { readTurn } from './read-turn.ts';
import type { SharedTurns } from './shared-turns.ts';
import { type WireTools, wireTools } from './wire-tools.ts';

/** A model of a provider, and what it is offered. */
export interface ProviderModelOptions {
  subject: ModelSubject;
  /** Which wire of openai is spoken. */
  api: 'chat' | 'responses';
  /** How long one answer may take as a whole, in milliseconds. */
  timeout: number;
  /** How many tokens one answer may have; as the provider sees fit when absent. */
  maxOutputTokens?: number | undefined;
  load: () => Promise<Provider>;
  /** What the model may ask for; read anew at each turn. */
  tools: () => Iterable<Tool>;
  /** What it is told before anything else; `null` for nothing. */
  instructions: () => string | null;
  /** The event loop, shared by all answers of the agent. */
  turns: SharedTurns;
  clock: Clock;
}

/** One model of one provider. */
export interface ProviderModel {
  readonly subject: ModelSubject;
  /**
   * Takes one turn by one request; nothing is tried twice. Rejects with a ModelFailure, or with the reason of the
   * signal when that aborts.
   */
  ask(
    conversation: Conversation,
    options: { signal: AbortSignal; onToken: (text: string) => void },
  ): Promise<Turn>;
}

/** Makes a model of a provider, whose package is loaded with the first turn. */
export function createProviderModel(options: ProviderModelOptions): ProviderModel {
  const { subject, timeout, clock } = options;
  return {
    subject,
    async ask(conversation, { signal, onToken }) {
      signal.throwIfAborted();
      // Ends the request in whatever way this turn ends, so that no connection outlives it.
      const over = new AbortController();
      let isLate = false;
      const timer = clock.setTimeout(() => {
        isLate = true;
        over.abort();
      }, timeout);
      const tools = [...options.tools()];
      const names = wireTools(tools);
      const offered = tools.map(({ name }) => ({ tool: name, wire: names.toWire(name) }));
      try {
        const abortSignal = AbortSignal.any([signal, over.signal]);
        const turn = { conversation, tools, names };
        return await request(options, turn, { abortSignal, onToken });
      } catch (error) {
        signal.throwIfAborted();
        if (!isLate)
          throw await failureOfError(error, subject, { now: clock.now(), tools: offered });
        const limit = formatDuration(timeout);
        throw new ModelFailure(
          'late',
          `${nameOf(subject)} did not finish its answer within ${limit}; raise model.timeout if it needs longer`,
        );
      } finally {
        clock.clearTimeout(timer);
        over.abort();
      }
    },
  };
}

/** What a turn is asked for with. */
interface AskedTurn {
  conversation: Conversation;
  tools: readonly Tool[];
  names: WireTools;
}

async function request(
  { subject, api, maxOutputTokens, load, instructions, turns }: ProviderModelOptions,
  { conversation, tools, names }: AskedTurn,
  { abortSignal, onToken }: { abortSignal: AbortSignal; onToken: (text: string) => void },
): Promise<Turn> {
  const [provider, { streamText, jsonSchema }] = await Promise.all([load(), loadLibrary()]);
  const { provider: of, model: name } = subject;
  const model = { provider: of, model: name, endpoint: endpointOf(subject) };
  const prompt = instructions();
  const { stream } = streamText({
    model: provider.language(subject.model, api),
    messages: promptMessages(conversation, { model, names }),
    ...(prompt === null ? {} : { instructions: prompt }),
    ...(tools.length === 0 ? {} : { tools: toolSet(tools, { names, jsonSchema, subject }) }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    // The chain tries again, and knows which failures may pass.
    maxRetries: 0,
    abortSignal,
    telemetry: { isEnabled: false },
    // What has come to an end with an answer is not kept at the provider.
    providerOptions: { openai: { store: false } },
    // Nothing is fetched on behalf of whoever wrote an address into a message.
    experimental_download: async (files) => files.map(() => null),
    onError: () => undefined,
  });
  return readTurn(stream, { subject, names, onToken, turns });
}

/** Loads what speaks to every provider; its warnings would go to the console of the daemon. */
async function loadLibrary(): Promise<typeof Library> {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return import('ai');
}

/** The longest description of a tool, in characters, where a provider refuses the whole request for a longer one. */
const longestDescriptions: Partial<Record<ModelSubject['provider'], number>> = { openai: 1_024 };

interface ToolSetParts {
  names: WireTools;
  jsonSchema: typeof Library.jsonSchema;
  subject: ModelSubject;
}

/** Without a function to run them, the library hands every call back: the chart rules on it and runs it. */
function toolSet(
  tools: readonly Tool[],
  { names, jsonSchema, subject }: ToolSetParts,
): Library.ToolSet {
  const longest = longestDescriptions[subject.provider] ?? Number.POSITIVE_INFINITY;
  return Object.fromEntries(
    tools.map(({ name, description }) => [
      names.toWire(name),
      {
        description: cutToRunes(description, longest),
        inputSchema: jsonSchema(names.schemaOf(name)),
      },
    ]),
  );
}
