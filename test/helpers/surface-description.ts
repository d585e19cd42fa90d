import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Answer } from './agent-client.ts';

/** What an agent's `/openapi.json` says, as a test holds answers against it. */
export class SurfaceDescription {
  readonly document: any;
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false });

  constructor(document: any) {
    this.document = document;
    this.#ajv.addSchema(closed(document) as object, 'description');
  }

  /** Every way there is, as verb and path. */
  ways(): string[] {
    return Object.entries<object>(this.document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path}`),
    );
  }

  /** Expects an answer to be one that the description tells of: its status, its type and all of its body. */
  expectTold(method: string, path: string, { status, headers, body }: Omit<Answer, 'url'>): void {
    const template = this.#templateOf(method, path);
    const told = this.document.paths[template]?.[method.toLowerCase()]?.responses?.[status];
    expect(told, `${method} ${template} is not said to answer ${status}`).toBeDefined();
    const type = headers.get('content-type')?.split(';')[0] ?? '';
    if (type === '' && told.content === undefined) return;
    expect(Object.keys(told.content ?? {}), `${method} ${template} ${status}`).toContain(type);
    if (!type.endsWith('json')) return;
    const way = ['paths', template, method.toLowerCase(), 'responses', String(status), 'content'];
    const pointer = [...way, type, 'schema'].map(escaped).join('/');
    const isValid = this.#ajv.validate({ $ref: `description#/${pointer}` }, body);
    const faults = this.#ajv.errors?.map((one) => `${one.instancePath} ${one.message}`);
    expect(isValid ? [] : [`${method} ${path} ${status}`, ...(faults ?? []), body]).toEqual([]);
  }

  /** The path that spells most of it out. */
  #templateOf(method: string, path: string): string {
    const { pathname } = new URL(path, 'http://x');
    const fitting = this.ways()
      .filter((way) => way.startsWith(`${method} `))
      .map((way) => way.slice(method.length + 1))
      .filter((template) => patternOf(template).test(pathname));
    const [best = pathname] = fitting.toSorted(
      (one, other) => parametersOf(one) - parametersOf(other) || other.length - one.length,
    );
    return best;
  }
}

function patternOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function parametersOf(template: string): number {
  return template.split('{').length;
}

function escaped(token: string): string {
  return encodeURIComponent(token.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** The description is open to what later releases add; a test of this one is not. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inside = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, closed(value)]),
  );
  const isClosed = inside['type'] === 'object' && 'properties' in inside;
  return isClosed ? { additionalProperties: false, ...inside } : inside;
}
