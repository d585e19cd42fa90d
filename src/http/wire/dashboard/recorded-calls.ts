import { z } from 'zod';
import type { CallOrigin } from '../../../machines/domain/hold.ts';
import { type JsonObject, parseJson } from '../../../machines/json.ts';
import type { DecisionJson } from './task-detail-json.ts';

/** A recorded tool call. */
export interface RecordedCall {
  task: string;
  id: string;
  tool: string;
  /** The model's arguments as far as they were recorded; `null` if they were not. */
  args: JsonObject | null;
  /** True if `args` are the arguments after MODIFY. */
  isRewritten: boolean;
  /** The caller's assurance level; `null` if unknown. */
  acr: string | null;
  /** What the program of a hold stated of the call; absent for none. */
  origin?: CallOrigin;
  /** The recorded decisions of the layers. */
  before: DecisionJson[];
}

/** The recorded data of a task in addition to its decisions. */
interface Known {
  task: string;
  decisions: readonly DecisionJson[];
  /** The held call. */
  held: { id: string; args: unknown } | null;
  /** The task's log events, oldest first. */
  events: readonly { event: string; fields: Record<string, unknown> }[];
}

const argsShape = z.record(z.string(), z.json());
const calls = z.array(z.looseObject({ id: z.string(), args: argsShape }));
const turn = z.looseObject({ role: z.literal('agent'), calls });

/**
 * Lists a task's recorded calls, oldest first. The arguments come from the held call, otherwise from `audit.capture`:
 * from the model's turn, or from the run if the call is unambiguous.
 */
export function recordedCalls({ task, decisions, held, events }: Known): RecordedCall[] {
  const asked = askedFor(events);
  const ruled = Map.groupBy(
    decisions.filter(({ call_id: id, tool }) => id !== undefined && tool !== undefined),
    ({ call_id: id }) => id ?? '',
  );
  const origin = originIn(events);
  const tools = [...ruled.values()].map(([said]) => said?.tool ?? '');
  return [...ruled].map(([id, before]) => {
    const tool = before[0]?.tool ?? '';
    const ran = held?.id === id ? held.args : argsOfRun(tool, tools, events);
    const args = asked.get(id) ?? argsIn(ran);
    const wasModified = before.some(({ decision }) => decision === 'modify');
    const isRewritten = args !== null && !asked.has(id) && wasModified;
    return {
      task,
      id,
      tool,
      args,
      isRewritten,
      acr: acrOf(tool, before, events),
      ...origin,
      before,
    };
  });
}

function askedFor(events: Known['events']): Map<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const { event, fields } of events) {
    if (event !== 'llm_call') continue;
    const messages = parsed(fields['messages']);
    const said = turn.safeParse(Array.isArray(messages) ? messages.at(-1) : null);
    for (const call of said.data?.calls ?? []) found.set(call.id, call.args);
  }
  return found;
}

/**
 * The log records the tool of a run but not the call ID, so the match is only unambiguous if the tool was called once.
 */
function argsOfRun(tool: string, tools: readonly string[], events: Known['events']): unknown {
  const runs = events.filter(
    ({ event, fields }) =>
      event === 'tool_exec' && fields['phase'] === 'start' && fields['tool'] === tool,
  );
  if (runs.length !== 1 || tools.filter((one) => one === tool).length !== 1) return null;
  return parsed(runs[0]?.fields['args']);
}

function argsIn(value: unknown): JsonObject | null {
  return argsShape.safeParse(value).data ?? null;
}

function acrOf(
  tool: string,
  before: readonly DecisionJson[],
  events: Known['events'],
): string | null {
  if (!before.some(({ layer, decision }) => layer === 'step_up' && decision === 'step_up'))
    return null;
  const refused = events.findLast(
    ({ event, fields }) => event === 'auth_step_up_required' && fields['tool'] === tool,
  );
  const presented = refused?.fields['presented_acr'];
  return typeof presented === 'string' ? presented : '';
}

/** A hold has one call, and its first event has what its program stated. */
function originIn(events: Known['events']): Pick<RecordedCall, 'origin'> {
  const { cwd, client } = events.find(({ event }) => event === 'session_start')?.fields ?? {};
  const stated = {
    ...(typeof cwd === 'string' ? { cwd } : {}),
    ...(typeof client === 'string' ? { client } : {}),
  };
  return Object.keys(stated).length === 0 ? {} : { origin: stated };
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' ? parseJson(text) : null;
}
