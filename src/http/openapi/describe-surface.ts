import { z } from 'zod';
import { a2aOperation } from './a2a-operations.ts';
import { accessAnswers } from './access-answers.ts';
import { answers, bodies } from './components.ts';
import { mcpOperations } from './mcp-operations.ts';
import { type Answer, eventStream, type Operation, type Parameter, type Tag } from './operation.ts';
import { operations } from './operations.ts';

/** A route of the router. */
export interface DescribedRoute {
  path: string | RegExp;
  methods: readonly string[];
}

/** The owner of the API, from the agent card. */
export interface SurfaceOwner {
  name: string;
  version: string;
  description?: string | undefined;
  url: string;
  securitySchemes?: { [key: string]: unknown } | undefined;
  security?: { [key: string]: string[] }[] | undefined;
}

const tags: Record<Tag, string> = {
  tasks: 'Work that the agent is given.',
  approvals: 'Tool calls that wait for a person.',
  a2a: 'The Agent2Agent protocol, 0.3.0 and 1.0.',
  mcp: 'The tools of the agent over the Model Context Protocol.',
  agent: 'What the agent says about itself.',
  watching: 'How it is doing.',
};

const correlation = {
  'X-Correlation-ID': { $ref: '#/components/headers/CorrelationId' },
};

/**
 * Describes an agent's HTTP API as OpenAPI 3.1 (docs/contract/transports.md), with exactly the routes of its router.
 * Throws for a route without a description.
 */
export function describeSurface(routes: readonly DescribedRoute[], owner: SurfaceOwner): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const { path, methods } of routes) {
    const shown = openApiPath(String(path));
    for (const verb of methods.filter((one) => one !== 'HEAD')) {
      const item = (paths[shown] ??= {});
      item[verb.toLowerCase()] = presentOperation(operationOf(verb, String(path)), shown);
    }
  }
  const { name: title, version, description, url, security = [] } = owner;
  return {
    openapi: '3.1.1',
    info: { title, version, ...(description === undefined ? {} : { description }) },
    servers: [{ url }],
    security,
    tags: Object.entries(tags).map(([name, says]) => ({ name, description: says })),
    paths,
    components: {
      schemas: {
        ...componentsOf(bodies, 'input'),
        ...componentsOf(answers, 'output'),
      },
      headers: {
        CorrelationId: {
          description: 'Names the request in every event of it.',
          schema: { type: 'string' },
        },
      },
      securitySchemes: owner.securitySchemes ?? {},
    },
  };
}

/** Returns a route's description by its verb and path. Throws if there is none. */
function operationOf(verb: string, path: string): Operation {
  const known =
    operations[`${verb} ${path}`] ??
    mcpOperations[`${verb} ${path}`] ??
    a2aOperation(verb, openApiPath(path));
  if (known !== undefined) return known;
  throw new Error(`${verb} ${path} is not described; say in src/http/openapi what it does`);
}

/** Converts a router path, with its escaped literal colons, to an OpenAPI path. */
function openApiPath(path: string): string {
  return path.replace(/(\\?):(\w*)/g, (_, escape: string, name: string) =>
    escape === '' ? `{${name}}` : `:${name}`,
  );
}

function presentOperation(operation: Operation, path: string): object {
  const { id, tag, says, parameters = [], body, isPublic } = operation;
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const told = { ...accessAnswers(operation), ...operation.answers };
  return {
    operationId: id,
    tags: [tag],
    summary: says,
    ...(isPublic ? { security: [] } : {}),
    ...(named.length + parameters.length === 0
      ? {}
      : { parameters: [...named, ...parameters.map(presentParameter)] }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.isOptional !== true,
            content: Object.fromEntries(
              body.types.map((type) => [
                type,
                { schema: refOf(body.schema, 'input'), example: body.example },
              ]),
            ),
          },
        }),
    responses: Object.fromEntries(
      Object.entries(told).map(([status, answer]) => [status, presentAnswer(answer)]),
    ),
  };
}

function presentParameter({ name, in: place, says, schema }: Parameter): object {
  return { name, in: place, description: says, schema: inlineOf(schema, 'input') };
}

function presentAnswer({ says, content, headers = {}, example, events }: Answer): object {
  const own = Object.entries(headers).map(([name, description]): [string, object] => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return {
    description: says,
    headers: { ...correlation, ...Object.fromEntries(own) },
    ...(content === undefined
      ? {}
      : {
          content: Object.fromEntries(
            Object.entries(content).map(([type, schema]) => [
              type,
              {
                schema: schema === null ? textOf(events) : refOf(schema, 'output'),
                ...(example === undefined ? {} : { example }),
              },
            ]),
          ),
        }),
  };
}

/** Describes a text. That of a stream names the schema of the data by the event. */
function textOf(events: Answer['events'] = {}): object {
  const properties = Object.fromEntries(
    Object.entries(events).map(([name, schema]) => [name, refOf(schema, 'output')]),
  );
  if (Object.keys(events).length === 0) return { type: 'string' };
  const description = 'The JSON in the data of an event, by the name of the event.';
  const contentSchema = { type: 'object', description, properties };
  return { type: 'string', contentMediaType: eventStream, contentSchema };
}

/** References a named schema and inlines any other. */
function refOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const named = bodies.get(schema) ?? answers.get(schema);
  return named === undefined ? inlineOf(schema, io) : { $ref: uriOf(named.id) };
}

function inlineOf(schema: z.ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return written;
}

function componentsOf(
  registry: z.core.$ZodRegistry<{ id: string }>,
  io: 'input' | 'output',
): Record<string, object> {
  const written = z.toJSONSchema(registry, { io, unrepresentable: 'any', uri: uriOf });
  return Object.fromEntries(
    Object.entries(written.schemas).map(([id, { $schema: _, $id: __, id: ___, ...schema }]) => [
      id,
      // A later release may add fields to its responses.
      openEnded(schema) as object,
    ]),
  );
}

function openEnded(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(openEnded);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'additionalProperties' || value !== false)
      .map(([key, value]) => [key, openEnded(value)]),
  );
}

function uriOf(id: string): string {
  return `#/components/schemas/${id}`;
}
