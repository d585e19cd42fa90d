import type { z } from 'zod';
import type { JsonValue } from '../../machines/json.ts';

/** The groups of the API description. */
export type Tag = 'tasks' | 'approvals' | 'holds' | 'a2a' | 'mcp' | 'agent' | 'watching';

/** The error format of a surface for requests that reach no route (docs/contract/a2a.md). */
export type RefusalForm = 'sentence' | 'status' | 'rpc';

/** One response of an operation. */
export interface Answer {
  /** One sentence. */
  says: string;
  /** Schemas by media type; `null` for text without a schema. Absent for a response without a body. */
  content?: Readonly<Record<string, z.ZodType | null>>;
  example?: JsonValue;
  /** Schemas of the JSON in the events of a stream, by the name of the event. */
  events?: Readonly<Record<string, z.ZodType>>;
  /** Additional response headers, each with a one-sentence description. */
  headers?: Readonly<Record<string, string>>;
}

/** A query or header parameter. Path parameters are derived from the route. */
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
  /** The responses of the route itself, without the responses of earlier middleware. */
  answers: Readonly<Record<number, Answer>>;
  /** Defaults to `sentence`. */
  form?: RefusalForm;
  /** True for a route without authentication (docs/contract/authentication.md). */
  isPublic?: boolean;
  /** True for a route that starts an invocation, which admission may deny. */
  isAdmitted?: boolean;
  /** True for a route exempt from the rate limit. */
  isUnlimited?: boolean;
}

export const json = 'application/json';
export const eventStream = 'text/event-stream';

/** Describes a response that contains JSON. */
export function holding(says: string, schema: z.ZodType, more: Partial<Answer> = {}): Answer {
  return { says, content: { [json]: schema }, ...more };
}
