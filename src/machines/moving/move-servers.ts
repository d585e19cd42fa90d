import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { kebabCase } from '../kebab-case.ts';
import { foreignKeyAt, serverKeys } from './foreign-keys.ts';
import { isOff, type MovedKey } from './moved-key.ts';

/** An MCP server from the settings of another program. Its texts may name variables as `${NAME}`. */
export interface MovedServer {
  name: string;
  url?: string;
  headers: Record<string, string>;
  command?: string;
  args: string[];
  env: Record<string, string>;
  auth?: JsonObject;
  tools: { allow: string[] } | { deny: string[] };
  timeout?: string;
}

export interface MovedServers {
  servers: MovedServer[];
  keys: MovedKey[];
}

export interface ServersMove {
  /** The folders that `${workspaceFolder}` and `${userHome}` stand for. */
  workspace: string;
  home: string;
  /** Returns whether a variable is set; a default in the text counts for one that is not. */
  isSet: (name: string) => boolean;
  /** Keys that the operator omits knowingly, with dots. */
  without: readonly string[];
}

/** Places of the map of servers in the settings of other programs. */
const places = [
  ['mcpServers'],
  ['servers'],
  ['mcp', 'servers'],
  ['mcp_servers'],
  ['context_servers'],
  ['mcp'],
];

/** Keys next to the servers that restrict what runs. */
const restricting = new Set([
  ...['permissions', 'sandbox', 'hooks', 'disabledMcpServers', 'disabledMcpjsonServers'],
  ...['allowedMcpServers', 'deniedMcpServers'],
]);

const longestName = 30;

/** Moves the MCP servers in the settings of Claude, Cursor, VS Code and others; `null` if the settings have none. */
export function moveServers(root: JsonObject, move: ServersMove): MovedServers | null {
  const place = places.find((path) => isServers(valueAt(root, path)));
  if (place === undefined) return null;
  const keys: MovedKey[] = [];
  const servers: MovedServer[] = [];
  const add = (row: MovedKey): void => {
    const isLeftOut = row.outcome === 'refused' && move.without.includes(row.key);
    keys.push(isLeftOut ? { key: row.key, outcome: 'lost', why: 'omitted as asked' } : row);
  };
  for (const [key, value] of Object.entries(root)) {
    if (key === place[0]) continue;
    if (key === 'inputs') for (const row of inputsOf(value)) add(row);
    else if (restricting.has(key) && !isOff(value)) {
      add({ key, outcome: 'refused', why: 'write the rules under security' });
    } else add({ key, outcome: 'lost', why: 'it describes no server' });
  }
  for (const [written, value] of Object.entries(valueAt(root, place) as JsonObject)) {
    const key = [...place, written].join('.');
    const name = written
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '');
    const why =
      !kebabCase.test(name) || name.length > longestName
        ? `the name cannot be kept; use up to ${longestName} lower-case letters, digits and hyphens`
        : servers.some((server) => server.name === name)
          ? `two servers would be called ${name}; rename one`
          : null;
    if (move.without.includes(key)) add({ key, outcome: 'lost', why: 'omitted as asked' });
    else if (why !== null) add({ key, outcome: 'refused', why });
    else if (!isJsonObject(value)) add({ key, outcome: 'lost', why: 'it is no map of settings' });
    else {
      const moved = moveServer(name, value, { ...move, key });
      const row: MovedKey =
        typeof moved.server === 'string'
          ? { key, outcome: 'lost', why: moved.server }
          : {
              key,
              outcome: 'renamed',
              to: `mcp.servers (${name})`,
              ...received(moved.server, move),
            };
      for (const one of [row, ...moved.keys]) add(one);
      if (typeof moved.server !== 'string') servers.push(moved.server);
    }
  }
  return { servers, keys };
}

/** Names the set variables that a server would receive, since the author of the settings may not be the operator. */
function received(server: MovedServer, { isSet }: ServersMove): { why?: string } {
  const { url, headers, command, args, env, auth } = server;
  const text = JSON.stringify([url, headers, command, args, env, auth]);
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name).filter(isSet);
  return names.length === 0
    ? {}
    : { why: `it receives ${[...new Set(names)].join(', ')} from your environment` };
}

/** Values asked by an editor are variables here. */
function inputsOf(value: JsonValue): MovedKey[] {
  return (Array.isArray(value) ? value : []).map((input, index) => {
    const id = isJsonObject(input) ? input['id'] : null;
    const key = `inputs.${index}`;
    return typeof id === 'string'
      ? { key, outcome: 'renamed', to: `the variable ${variableOf(id)}` }
      : { key, outcome: 'lost', why: 'it has no id' };
  });
}

function variableOf(id: string): string {
  return id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
}

interface ServerMove extends ServersMove {
  key: string;
}

/** Returns a server, or why it is omitted, with the outcome of its keys. */
function moveServer(
  name: string,
  settings: JsonObject,
  move: ServerMove,
): { server: MovedServer | string; keys: MovedKey[] } {
  if (isSwitch(settings['disabled'], true) || isSwitch(settings['enabled'], false)) {
    return { server: 'it is off there', keys: [] };
  }
  const isSse = [settings['type'], settings['transport']].some(
    (kind) => typeof kind === 'string' && /^sse$/i.test(kind),
  );
  if (isSse) {
    return {
      server: 'the transport sse is not spoken; write its address for streamable HTTP',
      keys: [],
    };
  }
  const keys: MovedKey[] = [];
  const server: MovedServer = { name, headers: {}, args: [], env: {}, tools: { deny: [] } };
  for (const [key, value] of Object.entries(settings)) {
    const place = `${move.key}.${key}`;
    if (move.without.includes(place)) {
      keys.push({ key: place, outcome: 'lost', why: 'omitted as asked' });
      continue;
    }
    keys.push({ key: place, ...moveKey(server, { key, value }, move) });
  }
  if ((server.url === undefined) === (server.command === undefined)) {
    return { server: 'it needs either a command or a url', keys: [] };
  }
  return { server, keys };
}

/** Returns whether a switch is in a position. A string or number counts too, since a server that is off must not run. */
function isSwitch(value: JsonValue | undefined, isOn: boolean): boolean {
  if (value === undefined || value === null) return false;
  const text = typeof value === 'object' ? '' : String(value);
  return isOn !== (isOff(value) || /^(?:false|no|off|0)$/i.test(text));
}

type Fate = Omit<MovedKey, 'key'>;

function moveKey(
  server: MovedServer,
  { key, value }: { key: string; value: JsonValue },
  move: ServerMove,
): Fate {
  const found = foreignKeyAt(serverKeys, [key])?.key;
  if (found === undefined) {
    const restricts = /tool|allow|den[iy]|auth|sandbox|polic|approv|restrict|permission/i.test(key);
    return restricts && !isOff(value)
      ? { outcome: 'refused', why: 'it is not known, and it may restrict something' }
      : { outcome: 'lost', why: 'it is not known' };
  }
  if (found.to === undefined) {
    const why = found.lost ?? 'it is not there';
    return { outcome: found.isControl === true && !isOff(value) ? 'refused' : 'lost', why };
  }
  if (found.to === 'auth' && isOff(value)) return { outcome: 'lost', why: 'it is off' };
  // The kind of a server follows from its other keys; an unsupported one was omitted before.
  if (key === 'type' || key === 'transport') return { outcome: 'taken' };
  const problem = take(server, { key, to: found.to, value }, move);
  if (problem !== null) return { outcome: 'refused', why: problem };
  return found.to === key ? { outcome: 'taken' } : { outcome: 'renamed', to: found.to };
}

/** Writes a setting into a server, and returns why it cannot be read; `null` if it can. */
function take(
  server: MovedServer,
  { key, to, value }: { key: string; to: string; value: JsonValue },
  move: ServersMove,
): string | null {
  try {
    if (to === 'url') server.url = textOf(value, move);
    else if (to === 'args') server.args.push(...textsOf(value, move));
    else if (to === 'env') Object.assign(server.env, mapOf(value, move));
    else if (to === 'command') takeCommand(server, value, move);
    else if (to === 'timeout') server.timeout = timeOf(key, value);
    else if (key === 'bearer_token_env_var') {
      server.headers['Authorization'] = `Bearer \${${textOf(value, move)}}`;
    } else if (key === 'env_http_headers') {
      for (const [name, variable] of Object.entries(mapOf(value, move))) {
        server.headers[name] = `\${${variable}}`;
      }
    } else if (to === 'headers') Object.assign(server.headers, mapOf(value, move));
    else if (to === 'auth') server.auth = authOf(value, move);
    else takeTools(server, to, textsOf(value, move));
    return null;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}

/** A program, a list of it and its arguments, or a map. */
function takeCommand(server: MovedServer, value: JsonValue, move: ServersMove): void {
  if (isJsonObject(value)) {
    server.command = textOf(value['path'] ?? null, move);
    server.args.push(...textsOf(value['args'] ?? [], move));
    Object.assign(server.env, mapOf(value['env'] ?? {}, move));
    return;
  }
  const [command = '', ...args] = Array.isArray(value)
    ? textsOf(value, move)
    : [textOf(value, move)];
  server.command = command;
  server.args.unshift(...args);
}

const authKeys: Readonly<Record<string, string>> = {
  ...{ clientId: 'client_id', CLIENT_ID: 'client_id', client_id: 'client_id' },
  ...{ clientSecret: 'client_secret', CLIENT_SECRET: 'client_secret' },
  ...{ scope: 'scopes', scopes: 'scopes' },
};

/** Reads the settings of a sign-in by OAuth. Throws a RangeError for one that has no place here. */
function authOf(value: JsonValue, move: ServersMove): JsonObject {
  if (!isJsonObject(value)) throw new RangeError('it must be a map of texts');
  const auth: JsonObject = { type: 'authorization_code' };
  for (const [key, setting] of Object.entries(value)) {
    if (isOff(setting) || (key === 'enabled' && setting === true)) continue;
    const to = Object.hasOwn(authKeys, key) ? authKeys[key] : undefined;
    if (to === undefined) throw new RangeError(`${key} is not there; write auth in service.yaml`);
    if (to !== 'scopes') auth[to] = textOf(setting, move);
    else if (Array.isArray(setting)) auth[to] = textsOf(setting, move);
    else auth[to] = textOf(setting, move).split(/\s+/);
  }
  return auth;
}

/** Of two lists of allowed tools both count. */
function takeTools(server: MovedServer, to: string, names: string[]): void {
  if (to === 'tools.allow' && names.includes('*')) return;
  const { tools } = server;
  if (to === 'tools.allow') {
    const denied = 'deny' in tools ? tools.deny : [];
    const before = 'allow' in tools ? tools.allow : names;
    server.tools = {
      allow: names.filter((name) => before.includes(name) && !denied.includes(name)),
    };
  } else if ('allow' in tools) {
    server.tools = { allow: tools.allow.filter((name) => !names.includes(name)) };
  } else server.tools = { deny: [...tools.deny, ...names] };
}

/** Programs disagree on the unit; a number counts as milliseconds where the seconds would be many. */
function timeOf(key: string, value: JsonValue): string {
  if (typeof value === 'string' && /^\d+(?:ms|s|m|h)$/.test(value)) return value;
  if (typeof value !== 'number' || !(value > 0)) throw new RangeError('it is no time');
  const isSeconds = key.endsWith('_sec') || value < 1_000;
  return isSeconds ? `${Math.ceil(value)}s` : `${Math.ceil(value)}ms`;
}

function mapOf(value: JsonValue, move: ServersMove): Record<string, string> {
  if (!isJsonObject(value)) throw new RangeError('it must be a map of texts');
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) =>
      text === null ? [] : [[name, textOf(text, move)]],
    ),
  );
}

function textsOf(value: JsonValue, move: ServersMove): string[] {
  if (!Array.isArray(value)) throw new RangeError('it must be a list of texts');
  return value.map((text) => textOf(text, move));
}

/** Writes the variables of a string as `${NAME}`. Throws a RangeError for one that has no meaning here. */
function textOf(value: JsonValue, { workspace, home, isSet }: ServersMove): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') throw new RangeError('it must be a string');
  const whole = /^\$([A-Za-z_]\w*)$/.exec(value)?.[1];
  if (whole !== undefined) return `\${${whole}}`;
  return value.replace(/\$?\{(env:)(\w+)\}|\$\{([^}]*)\}/g, (text, _env, named, inside: string) => {
    if (named !== undefined) return `\${${named}}`;
    if (inside.startsWith('input:')) return `\${${variableOf(inside.slice(6))}}`;
    if (/^workspaceFolder$|^workspaceRoot$/.test(inside)) return workspace;
    if (inside === 'userHome') return home;
    if (inside === '/' || inside === 'pathSeparator') return '/';
    const [, name, byDefault] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside) ?? [];
    if (name === undefined)
      throw new RangeError(`the variable ${text} is not there; write a value`);
    return byDefault === undefined || isSet(name) ? `\${${name}}` : byDefault;
  });
}

function isServers(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && Object.values(value).some(isJsonObject);
}

function valueAt(root: JsonObject, path: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = root;
  for (const step of path) found = isJsonObject(found) ? found[step] : undefined;
  return found;
}
