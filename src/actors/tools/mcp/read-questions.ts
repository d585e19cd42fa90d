import * as z from 'zod';
import type { Question } from '../../../machines/domain/question.ts';
import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';
import { clean } from './checked-schema.ts';
import { readForm } from './elicitation-form.ts';
import { elicitationName } from './elicitation-tool.ts';

/** Maximum questions in one answer, and characters of a message. */
const mostQuestions = 5;
const longestMessage = 2_000;

const asked = z.object({
  method: z.literal('elicitation/create'),
  params: z.looseObject({
    mode: z.enum(['form', 'url']).default('form'),
    message: z.string(),
    url: z
      .url({ protocol: /^https?$/ })
      .max(longestMessage)
      .optional(),
    requestedSchema: z.unknown().optional(),
  }),
});

/** A question without its place in a call. */
export type ReadQuestion = Omit<Question, 'key'>;

/** Reads the questions of a server for people; `null` if one of its requests is of another kind or malformed. */
export function readQuestions(
  server: string,
  said: unknown,
): { [key: string]: ReadQuestion } | null {
  const requests = z.record(z.string().max(256), z.unknown()).safeParse(said).data ?? {};
  const entries = Object.entries(requests);
  if (entries.length > mostQuestions) return null;
  const read = entries.map(([key, request]) => [key, readQuestion(server, request)] as const);
  if (read.some(([, question]) => question === null)) return null;
  return Object.fromEntries(read) as { [key: string]: ReadQuestion };
}

/** Reads one question of a server; `null` if it is none for a person, or malformed. */
export function readQuestion(server: string, request: unknown): ReadQuestion | null {
  const { data } = asked.safeParse(request);
  if (data === undefined) return null;
  const { mode, url, requestedSchema } = data.params;
  const message = cutToRunes(clean(data.params.message).trim(), longestMessage);
  const tool = elicitationName(server);
  if (mode === 'url') return url === undefined ? null : { tool, message, url };
  const form: JsonObject | null = readForm(requestedSchema as JsonValue);
  return form === null ? null : { tool, message, form };
}
