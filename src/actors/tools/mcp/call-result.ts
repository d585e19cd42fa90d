import * as z from 'zod';

/** Schema of a call result; its parts are validated when they are displayed. */
export const callResult = z
  .looseObject({
    content: z.unknown().optional(),
    structuredContent: z.unknown().optional(),
    /** Result format before 2024-11-05. */
    toolResult: z.unknown().optional(),
    isError: z.unknown().optional(),
  })
  .transform(({ content, structuredContent, toolResult, isError }) => ({
    content: partsOf(content ?? toolResult),
    structured: structuredContent,
    isError: isError === true,
  }));

export type CallResult = z.output<typeof callResult>;

/** Some servers send a single part, or plain text, in place of a list. */
function partsOf(said: unknown): unknown[] {
  if (said === undefined || said === null) return [];
  if (Array.isArray(said) && said.some(isPart)) return said.flatMap(partsOf);
  if (isPart(said)) return [said];
  if (Array.isArray(said) && said.every((one) => typeof one === 'string'))
    return said.flatMap(partsOf);
  return [{ type: 'text', text: typeof said === 'string' ? said : JSON.stringify(said) }];
}

function isPart(said: unknown): boolean {
  return typeof said === 'object' && said !== null && 'type' in said;
}
