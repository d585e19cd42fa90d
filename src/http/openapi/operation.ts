import type { z } from 'zod';
import type { JsonValue } from '../../machines/json.ts';

/** The groups that the description of the surface is read in. */
export type Tag = 'tasks' | 'approvals' | 'a2a' | 'mcp' | 'agent' | 'watching';

/** The format in which a surface refuses requests that reach no route (docs/contract/a2a.md). */
export type RefusalForm = 'sentence' | 'status' | 'rpc';

/** One answer of an operation. */
export interface Answer {
  /** One sentence. */
  says: string;
  /** Schemas by media type; `null` for text without a schema. Absent for an answer without a body. */
  content?: Readonly<Record<string, z.ZodType | null>>;
  example?: JsonValue;
  /** Headers beside those of every answer, each with one sentence. */
  headers?: Readonly<Record<string, string>>;
}

/** A parameter of a query or a header; those of the path are read from the route. */
export interface Parameter {
  name: string;
  in: 'query' | 'header';
  says: string;
  schema: z.ZodType;
}

/** The description of one route. */
export interface Operation {
  id: string;
  tag: Tag;
  /** One sentence. */
  says: string;
  parameters?: readonly Parameter[];
  /** Accepted bodies by media type. */
  body?: { schema: z.ZodType; types: readonly string[]; example: JsonValue; isOptional?: boolean };
  /** The answers of the route itself, without those of the middleware before it. */
  answers: Readonly<Record<number, Answer>>;
  form: RefusalForm;
  /** True for a route that anybody may read (docs/contract/authentication.md). */
  isPublic?: boolean;
  /** True for a route that starts an invocation, which admission may refuse. */
  isAdmitted?: boolean;
  /** True for a route that no limit of calls holds for. */
  isUnlimited?: boolean;
}

export const json = 'application/json';
export const eventStream = 'text/event-stream';

/** Says that an answer holds JSON. */
export function holding(says: string, schema: z.ZodType, more: Partial<Answer> = {}): Answer {
  return { says, content: { [json]: schema }, ...more };
}
