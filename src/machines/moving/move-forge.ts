import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import {
  type ForeignKey,
  foreignKeyAt,
  foreignValueOf,
  forgeKeys,
  isAboveForeignKeys,
} from './foreign-keys.ts';
import { isOff, type MovedKey, type Placed, placeAt } from './moved-key.ts';

/** The configuration that a `forge.yaml` becomes, and the outcome of each of its keys. */
export interface MovedForge {
  service: JsonObject;
  keys: MovedKey[];
}

export interface ForgeMove {
  /** Names of the builtin tools here. */
  builtinTools: readonly string[];
  /** Keys that the operator omits knowingly, with dots. */
  without: readonly string[];
}

type Path = readonly (string | number)[];

/** The outcome of one value. */
type Outcome =
  | { placed: Placed[]; to?: string; why?: string }
  | { lost: string }
  | { refused: string };

interface Site {
  path: Path;
  root: JsonObject;
  move: ForgeMove;
}

/** Sections in which a key that is not known may be a control. */
const strict = new Set(['auth', 'credentials', 'egress', 'guardrails', 'mcp', 'security']);

/** Moves the content of a `forge.yaml`, with the content of its guardrails file under `guardrails`. */
export function moveForge(root: JsonObject, move: ForgeMove): MovedForge {
  const keys: MovedKey[] = [];
  let service: JsonValue = {};
  const visit = (value: JsonValue, path: Path): void => {
    const key = path.join('.');
    if (move.without.includes(key)) {
      keys.push({ key, outcome: 'lost', why: 'omitted as asked' });
      return;
    }
    const isAbove = isAboveForeignKeys(forgeKeys, path);
    if (path.length === 0 || (isAbove && typeof value === 'object' && value !== null)) {
      const steps = Array.isArray(value)
        ? value.map((child, index) => [index, child] as const)
        : Object.entries(value as JsonObject);
      for (const [step, child] of steps) visit(child, [...path, step]);
      return;
    }
    const found = foreignKeyAt(forgeKeys, path);
    const outcome =
      found?.isExact === true
        ? outcomeOf(found.key, value, { path, root, move })
        : unknownAt(found?.key ?? null, value, path);
    if ('placed' in outcome) {
      for (const placed of outcome.placed) service = placeAt(service, placed);
      const { to = key, why } = outcome;
      const row: MovedKey =
        to === key ? { key, outcome: 'taken' } : { key, outcome: 'renamed', to };
      keys.push(why === undefined ? row : { ...row, why });
    } else if ('lost' in outcome) keys.push({ key, outcome: 'lost', why: outcome.lost });
    else keys.push({ key, outcome: 'refused', why: outcome.refused });
  };
  visit(root, []);
  const moved = compact(service) as JsonObject;
  const { egress } = moved;
  // Without a mode nothing is reached there.
  if (isJsonObject(egress) && egress['mode'] !== undefined) {
    return { service: moved, keys };
  }
  const own = isJsonObject(egress) ? egress : {};
  const why = 'as without a mode there';
  keys.push({ key: 'egress', outcome: 'renamed', to: 'egress.mode: deny-all', why });
  return { service: { ...moved, egress: { mode: 'deny-all', ...own } }, keys };
}

function outcomeOf(key: ForeignKey, value: JsonValue, site: Site): Outcome {
  const convert = Object.hasOwn(converters, key.path) ? converters[key.path] : undefined;
  if (convert !== undefined) return convert(value, site);
  if (key.to === undefined) {
    const lost = key.lost ?? 'it is not there';
    return key.isControl === true && !isOff(value) ? { refused: lost } : { lost };
  }
  if (value === '' || value === null) return { lost: 'it is empty' };
  return at(filled(key, site.path), value);
}

function unknownAt(key: ForeignKey | null, value: JsonValue, path: Path): Outcome {
  if (key?.lost !== undefined) {
    return key.isControl === true && !isOff(value) ? { refused: key.lost } : { lost: key.lost };
  }
  const isStrict = strict.has(String(path[0])) && !isOff(value);
  return isStrict
    ? { refused: 'it is not known, and it may restrict something' }
    : { lost: 'it is not known' };
}

function at(path: Path, value: JsonValue): Outcome {
  return { placed: [{ path, value }], to: path.join('.') };
}

/** Puts the keys and indexes that `*` stood for in the source into the place here. */
function filled({ path: from, to = '' }: ForeignKey, path: Path): (string | number)[] {
  const wild = path.filter((_, index) => from.split('.')[index] === '*');
  return to.split('.').map((step) => (step === '*' ? (wild.shift() ?? step) : step));
}

/** Removes the gaps that keys without a place here left in lists. */
function compact(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.filter((child) => child !== undefined).map(compact);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, compact(child)]));
}

type Convert = (value: JsonValue, site: Site) => Outcome;

const converters: Record<string, Convert> = {
  // YAML reads 1.0 as a number.
  version: (value, { path }) => at(path, wordOf(value)),
  framework: (value) =>
    value === 'forge'
      ? { lost: 'the loop of Holdpoint runs the agent' }
      : {
          refused: `the code of a ${wordOf(value)} agent stays where it runs; put a gate before its calls`,
        },
  entrypoint: (value) =>
    isOff(value)
      ? { lost: 'it is empty' }
      : { refused: 'the code of an agent stays where it runs; put a gate before its calls' },
  'model.provider': modelProvider,
  'model.fallbacks.*.provider': modelProvider,
  'model.disable_store': (value, { root }) => {
    const { provider } = mapAt(root, ['model']);
    const isOpenai = provider === 'openai' || provider === 'openai-responses';
    return isOff(value) || isOpenai
      ? { lost: 'the provider openai is always asked to store nothing' }
      : { refused: `the provider ${wordOf(provider)} is not asked to store nothing` };
  },
  'tools.*.name': (value, { path, move }) => {
    const name = nameHere(value);
    return move.builtinTools.includes(name)
      ? at(['builtin_tools', path[1] ?? 0], name)
      : { lost: `there is no builtin tool ${name}` };
  },
  'tools.*.config.allowed_binaries': toolConfig('commands'),
  'tools.*.config.timeout': toolConfig('timeout'),
  'egress.profile': (value, { root }) => {
    const mode = { strict: 'deny-all', standard: 'allowlist', permissive: 'dev-open' }[
      wordOf(value)
    ];
    if (mapAt(root, ['egress'])['mode'] !== undefined || mode === undefined) {
      return { lost: 'egress.mode alone decides' };
    }
    return at(['egress', 'mode'], mode);
  },
  'mcp.servers.*.transport': (value) =>
    value === 'http' || isOff(value)
      ? { lost: 'a server with a url speaks streamable HTTP' }
      : { refused: `the transport ${wordOf(value)} is not there; use streamable HTTP` },
  'mcp.servers.*.tools': serverTools,
  'mcp.servers.*.auth': serverAuth,
  'auth.providers.*.type': (value, { path }) => {
    const type = nameHere(value);
    return {
      ...at(path, type),
      to: path.join('.') + (type === value ? '' : `: ${type}`),
    } as Outcome;
  },
  'auth.providers.*.settings': signInSettings,
  'security.intent_alignment.provider': (value, { path }) => {
    const provider = nameHere(value);
    return at(path, provider);
  },
  'security.intent_drift.enabled': (value, { root }) => {
    if (value !== true) return { lost: 'it is off' };
    const { window = 5 } = mapAt(root, ['security', 'intent_drift']);
    const path = ['security', 'intent_alignment', 'drift'];
    return { placed: [{ path: [...path, 'window'], value: window }], to: path.join('.') };
  },
  'security.intent_drift.window': drift,
  'security.intent_drift.drift_threshold': drift,
  'security.intent_drift.monotone_n': drift,
  'guardrails.customRules.rules.*': customRule,
  guardrails_path: (_, { root }) =>
    root['guardrails'] === undefined
      ? { refused: 'the file is not there, so its rules cannot be read' }
      : { placed: [], to: 'security.guardrails', why: 'its rules are listed below' },
};

function modelProvider(value: JsonValue, { path }: Site): Outcome {
  const name = wordOf(value);
  const provider = nameHere(name);
  if (!['openai', 'anthropic', 'google', 'ollama', 'openai-compatible'].includes(provider)) {
    return {
      refused: `the provider ${name} is not there; use openai-compatible with model.base_url`,
    };
  }
  const placed = [{ path, value: provider }];
  const place = path.join('.');
  if (name !== 'openai-responses') {
    return { placed, to: provider === name ? place : `${place}: ${provider}` };
  }
  const api = { path: [...path.slice(0, -1), 'api'], value: 'responses' };
  return { placed: [...placed, api], to: `${place}: openai with api: responses` };
}

function toolConfig(key: string): Convert {
  return (value, { path, root, move }) => {
    const index = path[1] ?? 0;
    const list = root['tools'];
    const tool = Array.isArray(list) ? list[Number(index)] : null;
    const written = wordOf(isJsonObject(tool) ? tool['name'] : '');
    const name = nameHere(written);
    if (!move.builtinTools.includes(name)) return { lost: `there is no builtin tool ${name}` };
    return {
      placed: [
        { path: ['tools', index, 'name'], value: name },
        { path: ['tools', index, 'config', key], value },
      ],
      to: `tools.${index}.config.${key}`,
    };
  };
}

/** `*` is every tool there; names that are denied as well are not allowed. */
function serverTools(value: JsonValue, { path }: Site): Outcome {
  const { allow, deny, ...others } = isJsonObject(value) ? value : {};
  const [other] = Object.keys(others);
  if (other !== undefined)
    return { refused: `${other} is not known, and it may restrict something` };
  const lists = [allow ?? [], deny ?? []].map((list) =>
    Array.isArray(list) ? list.map(String) : null,
  );
  const [allowed, denied] = lists;
  if (!allowed || !denied) return { refused: 'allow and deny must be lists' };
  const patterns = [...allowed, ...denied].filter((name) => name !== '*' && /[*?[]/.test(name));
  if (patterns.length > 0)
    return { refused: `the pattern ${patterns[0]} is not there; list the names` };
  if (denied.includes('*')) return at([...path, 'allow'], []);
  if (allowed.length === 0 || allowed.includes('*')) return at([...path, 'deny'], denied);
  return at(
    [...path, 'allow'],
    allowed.filter((name) => !denied.includes(name)),
  );
}

function serverAuth(value: JsonValue, { path }: Site): Outcome {
  const settings = Object.entries(isJsonObject(value) ? value : {});
  const {
    type,
    token_env: variable,
    grant,
    ...others
  } = Object.fromEntries(settings.filter(([, setting]) => !isOff(setting)));
  if ((type === 'bearer' || type === 'static') && typeof variable === 'string') {
    return at([...path.slice(0, -1), 'headers', 'Authorization'], `Bearer \${${variable}}`);
  }
  if (type !== 'oauth') {
    return {
      refused: `the sign-in ${wordOf(type)} is not there; write auth with a grant, or headers: {Authorization: "Bearer \${NAME}"}`,
    };
  }
  const { client_id, client_secret_env: secret, scopes, ...unknown } = others;
  const [other] = Object.keys(unknown);
  if (other !== undefined) {
    // Another issuer would receive the secret.
    return { refused: `${other} is not there; write the issuer of the tokens as auth.issuer` };
  }
  return at(path, {
    type: grant ?? 'authorization_code',
    ...(client_id === undefined ? {} : { client_id }),
    ...(secret === undefined ? {} : { client_secret: `\${${wordOf(secret)}}` }),
    ...(scopes === undefined ? {} : { scopes }),
  });
}

/** Settings of each kind of sign-in that are the same here. */
const signIns: Record<string, readonly string[]> = {
  static_token: ['token_env', 'token', 'identity'],
  oidc: ['issuer', 'audience', 'client_id', 'jwks_url', 'jwks_cache_ttl', 'clock_skew'],
  http_verifier: ['url', 'timeout', 'default_org'],
  cloud_sigv4: [
    ...['region', 'allowed_accounts', 'allowed_principals', 'identity_cache_ttl'],
    'max_token_expires',
  ],
  cloud_iap: ['audience'],
  directory_ad: ['tenant_id', 'audience', 'allow_multi_tenant', 'allowed_tenants'],
};

/** Settings that restrict nothing, and are fixed here. */
const fixed = new Set(['jwks_refresh_ttl', 'graph_timeout']);

function signInSettings(value: JsonValue, { path, root }: Site): Outcome {
  const provider = mapAt(root, path.slice(0, -1));
  const type = nameHere(provider['type']);
  const known = signIns[type];
  if (known === undefined) return { refused: `there is no sign-in ${type}` };
  const placed: Placed[] = [];
  const notes: string[] = [];
  const above = path.slice(0, -1);
  for (const [key, setting] of Object.entries(isJsonObject(value) ? value : {})) {
    if (isOff(setting) && setting !== false) continue;
    if (known.includes(key)) placed.push({ path: [...path, key], value: setting });
    else if (key === 'claim_map' && isJsonObject(setting)) {
      const { groups, ...claims } = setting;
      if (groups !== undefined) placed.push({ path: [...above, 'groups_claim'], value: groups });
      if (Object.keys(claims).length > 0) placed.push({ path: [...path, key], value: claims });
    } else if (key === 'groups_mode' && setting === 'claim') {
      placed.push({ path: [...above, 'groups_claim'], value: 'groups' });
    } else if (key === 'audience' && type === 'cloud_sigv4') {
      notes.push('audience is omitted, since callers would have to sign it here');
    } else if (key === 'clock_skew' || fixed.has(key)) notes.push(`${key} is fixed here`);
    else return { refused: `${key} is not there, and it may restrict something` };
  }
  const why = notes.length === 0 ? {} : { why: notes.join(', ') };
  return { placed, to: path.join('.'), ...why };
}

function drift(value: JsonValue, { path, root }: Site): Outcome {
  if (mapAt(root, ['security', 'intent_drift'])['enabled'] !== true) return { lost: 'it is off' };
  return at(['security', 'intent_alignment', 'drift', path.at(-1) ?? ''], value);
}

/** Rules for messages and for arguments have a list each; there is none for answers. */
function customRule(value: JsonValue, { path }: Site): Outcome {
  const { type, pattern, action, gates, name } = isJsonObject(value) ? value : {};
  if (type !== 'regex' || typeof pattern !== 'string') {
    return { refused: `a rule of the type ${wordOf(type)} is not there; write a pattern` };
  }
  const lists = (Array.isArray(gates) ? gates : []).map(
    (gate) => ({ input: 'deny_prompts', tool_call: 'deny_commands' })[wordOf(gate)],
  );
  if (action !== 'block' || lists.length === 0 || lists.includes(undefined)) {
    const asked = Array.isArray(gates) ? gates.map(wordOf).join(' and ') : 'no gate';
    return {
      refused: `the action ${wordOf(action)} for ${asked} is not there; messages and arguments can be blocked, results of tools redacted (security.guardrails)`,
    };
  }
  const index = path.at(-1) ?? 0;
  const message = typeof name === 'string' && name !== '' ? { message: name } : {};
  const rules = lists.map((list) => ({
    path: ['security', 'guardrails', list ?? '', index],
    value: { pattern, ...message },
  }));
  const enabled = { path: ['security', 'guardrails', 'enabled'], value: true };
  return { placed: [enabled, ...rules], to: `security.guardrails.${lists.join(' and ')}` };
}

function mapAt(root: JsonObject, path: Path): JsonObject {
  let found: JsonValue | undefined = root;
  for (const step of path) {
    if (Array.isArray(found)) found = found[Number(step)];
    else found = isJsonObject(found) ? found[String(step)] : undefined;
  }
  return isJsonObject(found) ? found : {};
}

function nameHere(value: JsonValue | undefined): string {
  return foreignValueOf(wordOf(value)) ?? wordOf(value);
}

/** Returns a string, number or switch as it is; a list or map may hold secrets and is only named. */
function wordOf(value: JsonValue | undefined): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[…]' : '{…}';
  return String(value ?? null);
}
