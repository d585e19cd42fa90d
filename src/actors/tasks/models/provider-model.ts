import type * as Library from 'ai';
import { formatDuration } from '../../../machines/duration.ts';
import { cutToRunes } from '../../../machines/text.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Conversation, Turn } from '../../ports/model.ts';
import type { Tool } from '../../ports/tool.ts';
import type { Provider } from '../../providers/providers.ts';
import { failureOfError } from './failure-of-error.ts';
import { ModelFailure } from './model-failure.ts';
import { endpointOf, type ModelSubject, nameOf } from './model-subject.ts';
import { promptMessages } from './prompt-messages.ts';
import { readTurn } from './read-turn.ts';
import type { SharedTurns } from './shared-turns.ts';
import { type WireTools, wireTools } from './wire-tools.ts';

/** A provider's model, with its tools and instructions. */
export interface ProviderModelOptions {
  subject: ModelSubject;
  /** The API of openai to use. */
  api: 'chat' | 'responses';
  /** Time limit of one complete answer, in milliseconds. */
  timeout: number;
  /** Maximum tokens of one answer; the provider's default when absent. */
  maxOutputTokens?: number | undefined;
  load: () => Promise<Provider>;
  /** Returns the tools of the model; called for each turn. */
  tools: () => Iterable<Tool>;
  /** Returns the system prompt; `null` for none. */
  instructions: () => string | null;
  /** Event-loop scheduler, shared by all answers of the agent. */
  turns: SharedTurns;
  clock: Clock;
}

export interface ProviderModel {
  readonly subject: ModelSubject;
  /**
   * Runs one turn with a single request, without retries. Rejects with a ModelFailure, or with the signal's reason when
   * it aborts.
   */
  ask(
    conversation: Conversation,
    options: { signal: AbortSignal; onToken: (text: string) => void },
  ): Promise<Turn>;
}

/** Creates a provider's model; its package is loaded with the first turn. */
export function createProviderModel(options: ProviderModelOptions): ProviderModel {
  const { subject, timeout, clock } = options;
  return {
    subject,
    async ask(conversation, { signal, onToken }) {
      signal.throwIfAborted();
      // Aborts the request whenever this turn ends, so that no connection outlives it.
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

/** Parameters of a turn's request. */
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
    // The chain retries, since it distinguishes transient failures.
    maxRetries: 0,
    abortSignal,
    telemetry: { isEnabled: false },
    // Disables storage of finished responses at the provider.
    providerOptions: { openai: { store: false } },
    // Never downloads a URL from a message; its author could target any host.
    experimental_download: async (files) => files.map(() => null),
    onError: () => undefined,
  });
  return readTurn(stream, { subject, names, onToken, turns });
}

/** Loads the AI SDK and disables its warnings, which would go to the daemon's console. */
async function loadLibrary(): Promise<typeof Library> {
  globalThis.AI_SDK_LOG_WARNINGS = false;
  return import('ai');
}

/** Maximum characters of a tool description, for providers that refuse a whole request with a longer one. */
const longestDescriptions: Partial<Record<ModelSubject['provider'], number>> = { openai: 1_024 };

interface ToolSetParts {
  names: WireTools;
  jsonSchema: typeof Library.jsonSchema;
  subject: ModelSubject;
}

/** Without `execute` functions, the SDK returns every call; the chart rules on it and runs it. */
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
