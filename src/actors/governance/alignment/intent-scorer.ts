import type { Message } from '../../../machines/domain/task.ts';
import {
  type AlignmentDecision,
  type AlignmentThresholds,
  cosine,
  scoreIntent,
} from '../../../machines/governance/intent-alignment.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';
import type { Log } from '../../ports/log.ts';
import { type Embedder, EmbedderError } from './embedder.ts';

/** Maximum Unicode code points of a string that are compared. */
const maximumRunes = 8_192;

/** Maximum code points of a description, so that the arguments always count. */
const maximumDescription = 4_096;

/** Returns the text of a message for comparison, without data and files; empty if there is none. */
function textOfRequest({ parts }: Message): string {
  return clean(parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n'));
}

/**
 * Returns the text of a tool call for comparison: name, description and arguments as JSON
 * (docs/contract/governance.md). Arguments beyond 8,192 code points are ignored.
 */
function textOfCall(tool: string, description: string, args: JsonObject): string {
  const shortened = cutToRunes(description, maximumDescription);
  return clean(`${tool}: ${shortened}\n${JSON.stringify(args)}`);
}

/**
 * Normalises a string: well-formed, with one spelling for each character. Invisible characters are removed first, since
 * they could push relevant text beyond the limit.
 */
function clean(text: string): string {
  const visible = text
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  return cutToRunes(cutToRunes(visible, maximumRunes).normalize('NFKC'), maximumRunes);
}

/** A tool call to compare with the request of its task. */
export interface AlignmentQuestion {
  /** The user's message that started the run. */
  request: Message;
  tool: string;
  toolDescription: string;
  args: JsonObject;
  signal: AbortSignal;
}

/** Result of intent alignment for a call; `score` is `null` if there is nothing to compare. */
export interface AlignmentVerdict {
  decision: AlignmentDecision;
  score: number | null;
  reason: string;
}

/** Scores one call. Rejects only when the signal aborts, with its reason. */
export type IntentScorer = (question: AlignmentQuestion) => Promise<AlignmentVerdict>;

export interface AlignmentPorts {
  embedder: Embedder;
  thresholds: AlignmentThresholds;
  log: Log;
}

/**
 * Creates the scorer of intent alignment (docs/contract/governance.md). Any failure denies the call, even if the hard
 * threshold never denies, and logs one line without texts or secrets.
 */
export function createIntentScorer({ embedder, thresholds, log }: AlignmentPorts): IntentScorer {
  return async ({ request, tool, toolDescription, args, signal }) => {
    signal.throwIfAborted();
    try {
      const asked = textOfRequest(request);
      if (asked === '') return denial('the first message has no text to compare with');
      const texts = [asked, textOfCall(tool, toolDescription, args)];
      const [one = [], other = []] = await embedder.embed(texts, signal);
      const score = cosine(one, other);
      if (score === null) throw new EmbedderError('bad_answer', 'the vectors cannot be compared');
      return { ...scoreIntent(score, thresholds), score };
    } catch (error) {
      signal.throwIfAborted();
      log.error({ tool, ...describe(error) }, 'intent alignment: the embedder is unavailable');
      return denial('embedder unavailable');
    }
  };
}

function denial(reason: string): AlignmentVerdict {
  return { decision: 'deny', score: null, reason };
}

/** For an unexpected error only the name is reported: its message may quote sent data. */
function describe(error: unknown): { code: string; problem: string } {
  if (error instanceof EmbedderError) return { code: error.code, problem: error.message };
  const name = error instanceof Error ? error.name : typeof error;
  return { code: 'unexpected', problem: `the embedder failed with ${name}` };
}
