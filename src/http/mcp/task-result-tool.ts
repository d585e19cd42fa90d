import type { McpFace } from './mcp-face.ts';

/** Name of the tool that waits again for a held call. */
export const taskResultName = 'task_result';

/** The tool definition for clients. */
export const taskResultTool = {
  name: taskResultName,
  description:
    'Returns the outcome of a call that was answered with a task id because it needs approval. Waits for the decision and can be called again.',
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

/**
 * Returns true if clients get this tool: calls may be held and have a wait limit. An agent's own tool of the same name
 * takes precedence.
 */
export function offersTaskResult({
  answerWithin,
  mayHold,
  hasTool,
}: Omit<McpFace, 'key'>): boolean {
  return answerWithin > 0 && mayHold(null) && !hasTool(taskResultName);
}

/** Returns instructions for retrieving a call that was answered while held. */
export function howToAskFor(face: Omit<McpFace, 'key'>, taskId: string): string {
  return offersTaskResult(face)
    ? `Call ${taskResultName} with {"task_id":"${taskId}"} to wait for its outcome. Do not make the call again.`
    : 'Make the same call with the same arguments to wait for its outcome; it runs once.';
}
