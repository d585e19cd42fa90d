import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** A question of an MCP server during a call, for a person. */
export interface Question {
  /** The agent's name for the questions of the server. */
  tool: string;
  /** Identifies the question within its call. */
  key: string;
  message: string;
  /** An address that the person opens; absent for a form. */
  url?: string;
  /** JSON Schema of the fields of a form, of a flat object; absent for an address. */
  form?: JsonObject;
}

/** The answer of a person; `cancel` if nobody answered. */
export type QuestionAnswer =
  | { action: 'accept'; content?: JsonObject }
  | { action: 'decline' | 'cancel' };

/** Prefix of an argument that is one field of an answer, such as `answer.amount`. */
export const answerPrefix = 'answer.';

/** Returns the answer in the arguments of a held question: those of `answer`, and its single fields. */
export function answerIn({ answer = {}, ...args }: JsonObject): JsonValue {
  if (!isJsonObject(answer)) return answer;
  const fields = Object.entries(args)
    .filter(([name]) => name.startsWith(answerPrefix))
    .map(([name, value]): [string, JsonValue] => [name.slice(answerPrefix.length), value]);
  const own: JsonObject = Object.fromEntries(fields);
  return { ...answer, ...own };
}
