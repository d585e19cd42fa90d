import { type Span, SpanKind } from '@opentelemetry/api';
import { fromPromise } from 'xstate';
import type { Compaction } from '../../../machines/conversation/compaction.ts';
import type { ToolCall } from '../../../machines/task/task.ts';
import type { FailedModelCall, ThinkInput, Thought } from '../../../machines/task/task-events.ts';
import { definitionDigest } from '../../governance/governance.ts';
import {
  type Clock,
  type Ids,
  type LanguageModel,
  type Log,
  type ModelCall,
  ModelError,
  type Tool,
  type Turn,
} from '../../ports.ts';
import { inSpan } from '../../telemetry/telemetry.ts';
import type { Speaker } from '../spoken-turn.ts';
import { whenReachable } from '../when-reachable.ts';
import { acceptCall } from './accept-call.ts';

/** What thinking needs from outside. */
export interface ThinkPorts {
  /** The model that thinks for a run. */
  modelOf: (run: ThinkInput) => LanguageModel;
  ids: Ids;
  clock: Clock;
  log: Log;
  /** The tools as they are now. */
  tools: ReadonlyMap<string, Tool>;
  /** Marks calls of a task that would wait beyond what its caller may have waiting. */
  admit: (taskId: string, calls: readonly ToolCall[]) => Promise<ToolCall[]>;
  /** Begins the turn for who follows the task. */
  speak: (taskId: string) => Speaker;
}

/** Fills the `think` port: one turn of the model, its calls given their ids. A failing model is an outcome. */
export function createThink({ modelOf, ids, clock, log, tools, speak, admit }: ThinkPorts) {
  return fromPromise<Thought, ThinkInput>(async ({ input, signal }) => {
    const model = modelOf(input);
    const offered = new Map(tools);
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
      const accepted = turn.calls.map((call) => withOffered(acceptCall(call, ids, cut), offered));
      const admitted = () => admit(input.taskId, accepted);
      const calls = await whenReachable(admitted, { clock, signal });
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
      // A turn that was called off fails as its task wants it to.
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

/** Several calls of one turn may wait for days, one after the other. */
function withOffered(call: ToolCall, offered: ReadonlyMap<string, Tool>): ToolCall {
  const tool = offered.get(call.tool);
  return tool === undefined ? call : { ...call, offered: definitionDigest(tool) };
}

/** How models write a call that the server should have read. */
const callAsText = /<tool_call>|<\|tool_call|\[TOOL_CALLS\]|<function=|<｜tool▁calls?▁begin｜>/;

const wroteCallAsText =
  'model: a tool call came as text and was not made; turn on the tool parser of the model server';

/** The one call of a turn that tells of none. */
function calledOf({ provider, name }: LanguageModel, began: number): ModelCall {
  return { provider, model: name, duration: Math.round(performance.now() - began) };
}
