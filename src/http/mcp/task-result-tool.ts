import type { McpFace } from './mcp-face.ts';

/** The name of the tool that waits again for a call that is held. */
export const taskResultName = 'task_result';

/** The tool as clients are shown it. */
export const taskResultTool = {
  name: taskResultName,
  description:
    'Returns the outcome of a call that was answered with the id of its task, as it waits for a person. Waits for the decision, and may be asked again.',
  inputSchema: {
    type: 'object' as const,
    properties: {
      task_id: {
        type: 'string',
        description: 'The id of the task that the call was answered with.',
      },
    },
    required: ['task_id'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
};

/** Tells whether clients have the tool: calls may be held, and are answered in time. A tool of the agent with its name comes first. */
export function offersTaskResult({ answerWithin, mayHold, tools }: Omit<McpFace, 'key'>): boolean {
  return answerWithin > 0 && mayHold(null) && tools().every(({ name }) => name !== taskResultName);
}

/** Says how to ask for a call that was answered while it is held. */
export function howToAskFor(face: Omit<McpFace, 'key'>, taskId: string): string {
  return offersTaskResult(face)
    ? `Call ${taskResultName} with {"task_id":"${taskId}"} to wait for its outcome. Do not make the call again.`
    : 'Make the same call with the same arguments to wait for its outcome; it runs once.';
}
