import type { Message } from '../../../machines/domain/task.ts';
import { isJsonObject, type JsonValue } from '../../../machines/json.ts';
import { type Conversation, type LanguageModel, ModelError, type Turn } from '../../ports/model.ts';

/** One step of a script: a tool call, subject to governance, or the text that ends the run. */
export type ScriptStep = { tool: string; args?: JsonValue | undefined } | { say: string };

/**
 * A model that plays a script, one step per turn, and needs no key (docs/contract/models.md). A data part `{script:
 * [...]}` of the user's message replaces the configured script; after the last step it echoes its input.
 */
export function scriptedModel(name: string, script: readonly ScriptStep[]): LanguageModel {
  return {
    provider: 'scripted',
    name,
    async next(conversation, { onToken }) {
      // Like any model, it answers asynchronously, after its caller can subscribe.
      await Promise.resolve();
      const steps = scriptOf(conversation.request) ?? script;
      const turn = play(steps[conversation.turns], conversation);
      for (const token of turn.text.match(/\S+\s*|\s+/g) ?? []) onToken(token);
      return turn;
    },
  };
}

/** Parses a script received over the wire. Throws a ModelError that names the first invalid step. */
export function readScript(value: JsonValue): ScriptStep[] {
  if (!Array.isArray(value)) throw new ModelError('the script must be a list of steps');
  return value.map((step, index) => {
    if (isJsonObject(step)) {
      const { tool, args, say } = step;
      if (typeof say === 'string') return { say };
      if (typeof tool === 'string') return args === undefined ? { tool } : { tool, args };
    }
    throw new ModelError(`step ${index + 1} of the script must be {tool, args} or {say}`);
  });
}

function play(step: ScriptStep | undefined, conversation: Conversation): Turn {
  const spoken = { inputTokens: 0, outputTokens: 0 };
  if (step === undefined) return { ...spoken, calls: [], text: `echo: ${lastText(conversation)}` };
  if ('tool' in step) {
    return { ...spoken, text: '', calls: [{ tool: step.tool, args: step.args ?? {} }] };
  }
  const result = conversation.exchanges.at(-1)?.result ?? '';
  return { ...spoken, calls: [], text: step.say.replaceAll('{result}', () => result) };
}

function scriptOf({ parts }: Message): ScriptStep[] | null {
  for (const part of parts) {
    if (part.kind === 'data' && isJsonObject(part.data) && 'script' in part.data) {
      return readScript(part.data['script'] ?? null);
    }
  }
  return null;
}

/** Maximum characters of a message that are echoed. */
const longestPrompt = 16 * 1024;

function lastText({ request, followUps }: Conversation): string {
  const parts = [request, ...followUps.map(({ message }) => message)].flatMap((said) => said.parts);
  const texts = parts.flatMap((part) => {
    if (part.kind === 'text') return [part.text];
    if (part.kind === 'data') return [JSON.stringify(part.data)];
    return [part.file.name ?? part.file.uri ?? 'a file'];
  });
  return texts.join('\n').slice(0, longestPrompt).toWellFormed();
}
