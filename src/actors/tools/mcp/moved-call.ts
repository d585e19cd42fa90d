import { ToolError } from '../../ports/tool.ts';

/** Creates the error for a task that was created by another server than the configured one. */
export function movedCall(tool: string): ToolError {
  const message = `${tool} had started at another server than the one that is configured now; its outcome is unknown`;
  return new ToolError(message, { kind: 'server changed', isUnknown: true });
}
