import { z } from 'zod';
import type { Routes } from '../routes/route.ts';
import { a2aOperation } from './a2a-operations.ts';
import { accessAnswers } from './access-answers.ts';
import { type Answer, eventStream, type Operation, type Parameter, type Tag } from './operation.ts';

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
  holds: 'Calls that other programs run.',
  a2a: 'The Agent2Agent protocol, 0.3.0 and 1.0.',
  mcp: 'The tools of the agent over the Model Context Protocol.',
  agent: 'The agent card.',
  watching: 'Health and metrics.',
};

const components = '#/components/schemas/';

/** JSON Schemas by their ID. */
type Named = Record<string, object>;

const correlation = {
  'X-Correlation-ID': { $ref: '#/components/headers/CorrelationId' },
};

/**
 * Describes an agent's HTTP API as OpenAPI 3.1 (docs/contract/transports.md), with exactly the routes of its router.
 * Throws for a route without a description.
 */
export function describeSurface(
  routes: readonly DescribedRoute[],
  own: Routes,
  owner: SurfaceOwner,
): object {
  const paths: Record<string, Record<string, object>> = {};
  const named: Named = {};
  for (const { path, methods } of routes) {
    const shown = openApiPath(String(path));
    for (const verb of methods.filter((one) => one !== 'HEAD')) {
      const item = (paths[shown] ??= {});
      item[verb.toLowerCase()] = presentOperation(
        operationOf(own, verb, String(path)),
        shown,
        named,
      );
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
      schemas: named,
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
function operationOf(own: Routes, verb: string, path: string): Operation {
  const route = own[`${verb} ${path}`];
  const known =
    (route && { isAdmitted: route.admits !== undefined, ...route }) ??
    a2aOperation(verb, openApiPath(path));
  if (known !== undefined) return known;
  throw new Error(`${verb} ${path} is not described; add it to a table in src/http/routes`);
}

/** Converts a router path, with its escaped literal colons, to an OpenAPI path. */
function openApiPath(path: string): string {
  return path.replace(/(\\?):(\w*)/g, (_, escape: string, name: string) =>
    escape === '' ? `{${name}}` : `:${name}`,
  );
}

function presentOperation(operation: Operation, path: string, named: Named): object {
  const { id, tag, says, parameters = [], body, isPublic } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const answers = { ...accessAnswers(operation), ...operation.answers };
  return {
    operationId: id,
    tags: [tag],
    summary: says,
    ...(isPublic ? { security: [] } : {}),
    ...(inPath.length + parameters.length === 0
      ? {}
      : { parameters: [...inPath, ...parameters.map((one) => presentParameter(one, named))] }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.isOptional !== true,
            content: Object.fromEntries(
              body.types.map((type) => [
                type,
                { schema: schemaOf(body.schema, 'input', named), example: body.example },
              ]),
            ),
          },
        }),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => [status, presentAnswer(answer, named)]),
    ),
  };
}

function presentParameter({ name, in: place, says, schema }: Parameter, named: Named): object {
  return { name, in: place, description: says, schema: schemaOf(schema, 'input', named) };
}

function presentAnswer(
  { says, content, headers = {}, example, events }: Answer,
  named: Named,
): object {
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
                schema: schema === null ? textOf(events, named) : schemaOf(schema, 'output', named),
                ...(example === undefined ? {} : { example }),
              },
            ]),
          ),
        }),
  };
}

/** Describes a string. That of a stream names the schema of the data by the event. */
function textOf(events: Answer['events'] = {}, named: Named): object {
  const properties = Object.fromEntries(
    Object.entries(events).map(([name, schema]) => [name, schemaOf(schema, 'output', named)]),
  );
  if (Object.keys(events).length === 0) return { type: 'string' };
  const description = 'The JSON in the data of an event, by the name of the event.';
  const contentSchema = { type: 'object', description, properties };
  return { type: 'string', contentMediaType: eventStream, contentSchema };
}

/** Returns the JSON Schema of a value, which references schemas with an ID. Adds these to `named`. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output', named: Named): object {
  const { items, $defs = {} } = z.toJSONSchema(z.array(schema), { io, unrepresentable: 'any' });
  for (const [name, { id: _, ...found }] of Object.entries($defs)) {
    named[name] = published(found) as object;
  }
  return published(items) as object;
}

/** Converts a schema in depth: references lead to components, and objects are open to fields of a later release. */
function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key, value]) => key !== 'additionalProperties' || value !== false)
      .map(([key, value]) => [
        key,
        key === '$ref' ? String(value).replace('#/$defs/', components) : published(value),
      ]),
  );
}
