// Public entry `holdpoint/client/langchain`: holds the tool calls of LangChain and LangGraph (package `@langchain/core`).

import type { Arguments } from '../decision.ts';
import type { CallOptions, Gate, GuardOptions } from '../gate.ts';
import { drained } from './drained.ts';

/** What LangChain passes to a tool with its arguments. */
interface ToolConfig {
  toolCall?: { id?: string };
  configurable?: { thread_id?: unknown };
  signal?: AbortSignal;
}

/** A tool of LangChain as this adapter needs it. */
interface LangChainTool {
  name: string;
}

type Call = (input: unknown, runManager?: unknown, config?: ToolConfig) => unknown;

/** The value of the interrupt of a graph whose call waits. */
export interface HoldInterrupt {
  type: 'holdpoint_hold';
  tool: string;
  hold_id: string;
  to: string | null;
  expires_at: string | null;
}

/** How a tool of LangChain asks. */
export interface LangChainOptions extends GuardOptions {
  /**
   * `interrupt` of `@langchain/langgraph`. With it a call that waits interrupts its graph, and asks the gate again when the graph is
   * resumed; the value of the resume decides nothing. Needs a thread with a checkpointer.
   */
  interrupt?: (value: HoldInterrupt) => unknown;
}

/**
 * Returns a tool whose calls are held. The key of a call is made of the thread and the tool call's id. A denial is an error, which
 * ToolNode passes to the model.
 */
export function guardTool<Tool extends LangChainTool>(
  gate: Gate,
  tool: Tool,
  { interrupt, ...options }: LangChainOptions = {},
): Tool {
  const { name } = tool;
  const call = (tool as unknown as { _call: Call })._call;
  const held: Call = async (input, runManager, config) => {
    const named = { ...namesOf(config), ...options };
    // A tool with one text as its input has no arguments by name.
    const isText = typeof input !== 'object' || input === null;
    const args = (isText ? { input: input ?? null } : input) as Arguments;
    const run = (approved: Arguments) =>
      drained(call.call(tool, isText ? approved['input'] : approved, runManager, config));
    if (interrupt === undefined) return gate.guard(name, run, named)(args);
    for (;;) {
      const known = await gate.ask({ ...named, tool: name, args });
      if (known.status !== 'pending') return known.run(run, named);
      const { holdId: hold_id, to, expiresAt: expires_at } = known;
      // Throws, until the graph is resumed.
      interrupt({ type: 'holdpoint_hold', tool: name, hold_id, to, expires_at });
    }
  };
  const guarded = Object.create(Object.getPrototypeOf(tool) as object) as Tool;
  return Object.assign(guarded, tool, { _call: held });
}

function namesOf({ toolCall, configurable, signal }: ToolConfig = {}): CallOptions {
  const { thread_id: thread } = configurable ?? {};
  return {
    ...(toolCall?.id === undefined ? {} : { callId: toolCall.id }),
    ...(typeof thread === 'string' ? { session: thread } : {}),
    ...(signal === undefined ? {} : { signal }),
  };
}
