import { type Span, SpanKind } from '@opentelemetry/api';
import { fromPromise } from 'xstate';
import type { Compaction } from '../../../machines/domain/compaction.ts';
import type { FailedModelCall, ThinkInput, Thought } from '../../../machines/task/task-events.ts';
import type { Log } from '../../ports/log.ts';
import { type LanguageModel, type ModelCall, ModelError, type Turn } from '../../ports/model.ts';
import { inSpan } from '../../telemetry/telemetry.ts';
import type { Speaker } from '../spoken-turn.ts';
import { type AcceptPorts, acceptCalls } from './accept-calls.ts';

export interface ThinkPorts extends AcceptPorts {
  model: LanguageModel;
  log: Log;
  /** Starts a turn for followers of the task. */
  speak: (taskId: string) => Speaker;
}

/**
 * Creates the `think` port: one turn of the model, with ids assigned to its calls. A failure of the model is a regular
 * outcome.
 */
export function createThink({ model, log, speak, ...ports }: ThinkPorts) {
  const { clock } = ports;
  return fromPromise<Thought, ThinkInput>(async ({ input, signal }) => {
    const offered = new Map(ports.tools);
    const began = performance.now();
    const speaker = speak(input.taskId);
    const failedCalls: FailedModelCall[] = [];
    let compacted: { compaction?: Compaction } = {};
    try {
      const attributes = {
        'a2a.task.id': input.taskId,
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': model.provider,
        'gen_ai.request.model': model.name,
      };
      const take = async (span: Span): Promise<Turn> => {
        const said = await model.next(input, {
          signal,
          onToken: (text) => speaker.say(text),
          onFailedCall: (call) => failedCalls.push(call),
          onCompacted: (compaction) => {
            compacted = { compaction };
          },
        });
        span.setAttributes({
          'gen_ai.response.model': said.answeredBy ?? said.by?.model ?? model.name,
          'gen_ai.usage.input_tokens': said.inputTokens,
          'gen_ai.usage.output_tokens': said.outputTokens,
          ...(said.finishReason === undefined
            ? {}
            : { 'gen_ai.response.finish_reasons': [said.finishReason] }),
        });
        return said;
      };
      const turn = await inSpan(`chat ${model.name}`, attributes, take, SpanKind.CLIENT);
      const { cut, finishReason } = turn;
      if (turn.calls.length === 0 && callAsText.test(turn.text)) {
        log.warn({ task_id: input.taskId, model: model.name }, wroteCallAsText);
      }
      const asked = { taskId: input.taskId, calls: turn.calls, cut };
      const calls = await acceptCalls(asked, signal, { ...ports, tools: offered });
      const { inputTokens, outputTokens, text, by = calledOf(model, began) } = turn;
      const { estimatedTokens } = turn;
      const estimated = estimatedTokens === undefined ? {} : { estimatedTokens };
      const parts = turn.parts === undefined ? {} : { parts: turn.parts };
      const ending = cut === undefined ? {} : { cut };
      const outcome = { kind: 'said', text, calls, ...parts, ...ending } as const;
      const before = failedCalls.length === 0 ? {} : { failedCalls };
      const said = finishReason === undefined ? {} : { finishReason };
      const counted = { inputTokens, outputTokens, ...said, ...estimated };
      return { ...by, at: clock.now(), ...counted, ...before, ...compacted, outcome };
    } catch (error) {
      const isOurs = error instanceof ModelError;
      // Failures after an abort are expected and not logged.
      if (!isOurs && !signal.aborted)
        log.error({ error, task_id: input.taskId }, 'model: failed unexpectedly');
      const reason = isOurs ? error.message : 'the model failed inside the service';
      const outcome = { kind: 'failed', error: reason } as const;
      const { error: _, ...last } = failedCalls.at(-1) ?? { ...calledOf(model, began), error: '' };
      const before = failedCalls.length < 2 ? {} : { failedCalls: failedCalls.slice(0, -1) };
      return {
        ...last,
        at: clock.now(),
        inputTokens: 0,
        outputTokens: 0,
        ...before,
        ...compacted,
        outcome,
      };
    } finally {
      speaker.end();
    }
  });
}

/** Text formats of calls that the model server failed to parse. */
const callAsText = /<tool_call>|<\|tool_call|\[TOOL_CALLS\]|<function=|<｜tool▁calls?▁begin｜>/;

const wroteCallAsText =
  'model: a tool call arrived as text and was not run; enable the tool parser of the model server';

/** Returns the single model call of a turn without call reports. */
function calledOf({ provider, name }: LanguageModel, began: number): ModelCall {
  return { provider, model: name, duration: Math.round(performance.now() - began) };
}
