import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import type { Tool } from '../../ports/tool.ts';
import { looksMapped, mappedName, type WireNames, wireNames } from './wire-names.ts';

/** Argument names that every provider accepts; anthropic refuses a whole request with any other name. */
const taken = /^[A-Za-z0-9_.-]{1,64}$/;

/** Maps the tools of an agent, including their arguments, to a provider's format, and back. */
export interface WireTools extends WireNames {
  /** Returns the argument schema of a tool in a provider-compatible form. */
  schemaOf(tool: string): JsonObject;
  argsToWire(tool: string, args: JsonObject): JsonObject;
  /** Returns arguments under their original names; unchanged if an argument came under both of its names. */
  argsFromWire(tool: string, args: JsonValue): JsonValue;
}

/** Maps the names of tools and their arguments to names that every provider accepts. */
export function wireTools(tools: readonly Pick<Tool, 'name' | 'parameters'>[]): WireTools {
  const schemas = new Map(tools.map(({ name, parameters }) => [name, parameters]));
  const renamed = new Map(
    tools.map(({ name, parameters }) => [name, renamedOf(parameters)] as const),
  );
  return {
    ...wireNames(schemas.keys()),
    schemaOf: (tool) => schemaOf(schemas.get(tool) ?? {}, renamed.get(tool) ?? none),
    argsToWire: (tool, args) => withNames(args, renamed.get(tool) ?? none),
    argsFromWire(tool, args) {
      const back = new Map([...(renamed.get(tool) ?? none)].map(([own, wire]) => [wire, own]));
      if (!isJsonObject(args)) return args;
      const own = withNames(args, back);
      // An argument given under both of its names would be lost.
      return Object.keys(own).length === Object.keys(args).length ? own : args;
    },
  };
}

type Renamed = ReadonlyMap<string, string>;

const none: Renamed = new Map();

function renamedOf({ properties = null }: JsonObject): Renamed {
  if (!isJsonObject(properties)) return none;
  const odd = Object.keys(properties).filter((name) => !taken.test(name) || looksMapped(name));
  return new Map(odd.map((name) => [name, mappedName(name, /[^A-Za-z0-9_.-]/gu, 63)]));
}

function schemaOf(parameters: JsonObject, renamed: Renamed): JsonObject {
  if (renamed.size === 0) return parameters;
  const { properties, required } = parameters;
  return {
    ...parameters,
    properties: withNames(properties as JsonObject, renamed),
    ...(Array.isArray(required)
      ? {
          required: required.map((name) =>
            typeof name === 'string' ? (renamed.get(name) ?? name) : name,
          ),
        }
      : {}),
  };
}

function withNames(values: JsonObject, names: Renamed): JsonObject {
  if (names.size === 0) return values;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [names.get(name) ?? name, value]),
  );
}
