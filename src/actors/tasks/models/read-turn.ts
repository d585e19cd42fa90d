import type { FinishReason, ProviderMetadata, TextStreamPart, ToolSet } from 'ai';
import type { PartMetadata, SaidPart } from '../../../machines/domain/task.ts';
import type { JsonValue } from '../../../machines/json.ts';
import type { AskedCall, Turn } from '../../ports/model.ts';
import { certainArguments } from './certain-arguments.ts';
import { brokenOff, tooLong } from './failure-of-error.ts';
import { ModelFailure } from './model-failure.ts';
import { type ModelSubject, nameOf } from './model-subject.ts';
import { metadataLength, partMetadata } from './part-metadata.ts';
import type { SharedTurns } from './shared-turns.ts';
import type { WireTools } from './wire-tools.ts';

/** Collects the parts of one answer while it is read, in the order of their starts. */
class TurnParts {
  readonly #parts: SaidPart[] = [];
  readonly #open = new Map<string, SaidPart & { text: string }>();

  /** Processes the start, a delta or the end of a string or reasoning part, with provider metadata. */
  take(
    kind: 'text' | 'thought',
    id: string,
    metadata: ProviderMetadata | undefined,
    text = '',
  ): void {
    const key = `${kind} ${id}`;
    const part = this.#open.get(key) ?? this.#begin(key, kind);
    part.text += text;
    addMetadata(part, metadata);
  }

  /** Processes a call; an open part continues after it as a separate part. */
  takeCall(metadata: ProviderMetadata | undefined): void {
    const part: SaidPart = { kind: 'call' };
    addMetadata(part, metadata);
    this.#parts.push(part);
  }

  /** Returns the parts with content or with metadata to send back. */
  said(): SaidPart[] {
    return this.#parts
      .filter((part) => part.kind === 'call' || part.text !== '' || part.metadata !== undefined)
      .map((part) => (part.kind === 'call' ? part : { ...part, text: part.text.toWellFormed() }));
  }

  #begin(key: string, kind: 'text' | 'thought'): SaidPart & { text: string } {
    const part = { kind, text: '' };
    this.#open.set(key, part);
    this.#parts.push(part);
    return part;
  }
}

function addMetadata(part: SaidPart, given: ProviderMetadata | undefined): void {
  const added = partMetadata(given);
  const before: PartMetadata = part.metadata ?? {};
  for (const [wire, values] of Object.entries(added)) {
    part.metadata = { ...before, ...part.metadata, [wire]: { ...before[wire], ...values } };
  }
}

/** Maximum characters of an answer: text, reasoning, metadata and arguments together. */
const longest = 1024 * 1024;

/** Maximum calls of one answer: each is ruled on, and saved with all calls queued behind it. */
const mostCalls = 100;

/** Options for reading an answer. */
export interface ReadTurnOptions {
  subject: ModelSubject;
  names: Pick<WireTools, 'fromWire' | 'argsFromWire'>;
  /** Receives the text as it arrives. */
  onToken: (text: string) => void;
  /** Event-loop scheduler, shared with all concurrent answers. */
  turns: SharedTurns;
}

/**
 * Reads the stream of one answer to its end. Rejects with the provider's error, with a ModelFailure for an answer that
 * is empty, too long, incomplete or has too many calls, or with the reason of an abort. Arguments that are not JSON
 * remain text, so that governance denies them.
 */
export async function readTurn(
  stream: AsyncIterable<TextStreamPart<ToolSet>>,
  { subject, names, onToken, turns }: ReadTurnOptions,
): Promise<Turn> {
  const turn: Turn = { text: '', calls: [], inputTokens: 0, outputTokens: 0 };
  let ending: { reason: FinishReason; isSaid: boolean } | null = null;
  let length = 0;
  const written = new Map<string, string>();
  const parts = new TurnParts();
  for await (const part of stream) {
    // A waiting answer is not read further, which slows down a provider that is faster than this machine.
    const myTurn = turns.next();
    if (myTurn !== null) await myTurn;
    length += lengthOf(part);
    if (length > longest) throw tooLong(subject);
    switch (part.type) {
      case 'text-start':
      case 'text-end':
        parts.take('text', part.id, part.providerMetadata);
        break;
      case 'reasoning-start':
      case 'reasoning-end':
        parts.take('thought', part.id, part.providerMetadata);
        break;
      case 'reasoning-delta':
        parts.take('thought', part.id, part.providerMetadata, part.text);
        break;
      case 'text-delta':
        parts.take('text', part.id, part.providerMetadata, part.text);
        turn.text += part.text;
        if (part.text !== '') onToken(part.text);
        break;
      case 'tool-input-delta':
        written.set(part.id, (written.get(part.id) ?? '') + part.delta);
        break;
      case 'tool-call':
        if (turn.calls.length === mostCalls) throw tooManyCalls(subject);
        parts.takeCall(part.providerMetadata);
        turn.calls.push(callOf(part, names, written));
        break;
      case 'error':
        throw part.error;
      case 'abort':
        throw new DOMException('the call was aborted', 'AbortError');
      case 'finish-step':
        if (part.response.modelId !== '') turn.answeredBy = part.response.modelId;
        break;
      case 'finish':
        turn.inputTokens = part.totalUsage.inputTokens ?? 0;
        turn.outputTokens = part.totalUsage.outputTokens ?? 0;
        ending = { reason: part.finishReason, isSaid: part.rawFinishReason !== undefined };
        if (ending.isSaid) turn.finishReason = part.finishReason.replaceAll('-', '_');
        if (part.finishReason === 'length') turn.cut = 'length';
        if (part.finishReason === 'content-filter') turn.cut = 'content_filter';
        break;
      default:
    }
  }
  const said = parts.said();
  const hasThought = said.some(({ kind }) => kind === 'thought');
  const fault = faultOf(turn, ending, { subject, hasThought });
  if (fault !== null) throw fault;
  return { ...turn, text: turn.text.toWellFormed(), parts: said };
}

function callOf(
  part: { toolName: string; toolCallId: string; input: unknown; invalid?: boolean | undefined },
  names: ReadTurnOptions['names'],
  written: ReadonlyMap<string, string>,
): AskedCall {
  const tool = names.fromWire(part.toolName);
  const { args, ...rest } = argumentsOf(part, written);
  return { tool, args: names.argsFromWire(tool, args), ...rest };
}

/** Arguments that are not JSON remain text, unless their meaning is unambiguous. */
function argumentsOf(
  {
    toolCallId,
    input,
    invalid,
  }: { toolCallId: string; input: unknown; invalid?: boolean | undefined },
  written: ReadonlyMap<string, string>,
): Pick<AskedCall, 'args' | 'written'> {
  const isText = typeof input === 'string';
  const text = written.get(toolCallId) ?? (invalid === true && isText ? input : undefined);
  const meant = isText ? certainArguments(text ?? input) : null;
  if (meant !== null) return { args: JSON.parse(meant) as JsonValue, written: meant };
  return { args: input as JsonValue, ...(text === undefined ? {} : { written: text }) };
}

function tooManyCalls(subject: ModelSubject): ModelFailure {
  const text = `${nameOf(subject)} asked for more than ${mostCalls} calls at once; ask for less at once`;
  return new ModelFailure('unusable', text);
}

function lengthOf(part: TextStreamPart<ToolSet>): number {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return part.text.length + metadataLength(part.providerMetadata);
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
    case 'tool-call':
      return metadataLength(part.providerMetadata);
    case 'tool-input-delta':
      return part.delta.length;
    default:
      return 0;
  }
}

function faultOf(
  { text, calls }: Turn,
  ending: { reason: FinishReason; isSaid: boolean } | null,
  { subject, hasThought }: { subject: ModelSubject; hasThought: boolean },
): ModelFailure | null {
  const isCut = ending?.reason === 'other' && !ending.isSaid;
  if (ending === null || ending.reason === 'interrupted' || ending.reason === 'error' || isCut) {
    return brokenOff(subject);
  }
  if (text.trim() !== '' || calls.length > 0) return null;
  const who = nameOf(subject);
  switch (ending.reason) {
    case 'content-filter':
      return new ModelFailure('unusable', `${who} held its answer back (content filter)`);
    case 'length':
      return new ModelFailure('unusable', `${who} used up its tokens before it produced text`);
    default: {
      const what = hasThought ? 'with thoughts and no answer' : 'with nothing';
      return new ModelFailure('unusable', `${who} answered ${what}; ask again in other words`);
    }
  }
}
