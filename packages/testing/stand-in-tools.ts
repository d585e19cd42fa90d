import { type Tool, ToolError } from '../../src/actors/ports/tool.ts';
import { messageOf } from '../../src/machines/message-of.ts';
import type { StandInTool, TestAgentOptions, ToolRun } from './test-agent.ts';

type StandIns = NonNullable<TestAgentOptions['tools']>;

/**
 * Replaces every tool of an agent with a stand-in, keeping its name, schema and annotations. Throws RangeError for a
 * stand-in without a matching tool.
 */
export function standInTools(
  tools: ReadonlyMap<string, Tool>,
  standIns: StandIns,
  note: (run: ToolRun) => void,
): Map<string, Tool> {
  const stray = Object.keys(standIns).find((name) => !tools.has(name));
  if (stray !== undefined) {
    const known = tools.size === 0 ? 'it has none' : `it has ${[...tools.keys()].join(', ')}`;
    throw new RangeError(`the agent has no tool ${stray} to replace; ${known}`);
  }
  return new Map(
    [...tools].map(([name, tool]) => [name, { ...tool, run: runOf(name, standIns[name], note) }]),
  );
}

function runOf(
  tool: string,
  standIn: StandIns[string] | undefined,
  note: (run: ToolRun) => void,
): Tool['run'] {
  const given = typeof standIn === 'object' ? standIn.run : (standIn ?? 'ok');
  const serve: StandInTool = typeof given === 'string' ? () => given : given;
  return async (args, { taskId, callId, signal }) => {
    const run = { taskId, callId, tool, args };
    note(run);
    try {
      const result = await serve(args, { ...run, signal });
      return typeof result === 'string' ? result : JSON.stringify(result);
    } catch (error) {
      throw new ToolError(messageOf(error), { cause: error });
    }
  };
}
