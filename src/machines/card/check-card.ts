import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { isLoopbackUrl } from '../loopback.ts';

/** The A2A generation that can read a card; `hybrid` is readable by both. */
export type CardForm = 'hybrid' | '0.3' | '1.0' | 'unknown';

/** A problem of a card, with its path such as `skills[2].tags`. */
export interface CardFinding {
  severity: 'error' | 'warning';
  path: string;
  message: string;
}

/** A security scheme of a card. */
export interface CardScheme {
  key: string;
  /** Short description, such as `http bearer`. */
  says: string;
}

const most = 200;

/** Detects the generation of a card from the fields that each generation requires. */
export function cardForm(card: JsonValue): CardForm {
  if (!isJsonObject(card)) return 'unknown';
  const { protocolVersion: version } = card;
  // A 1.0 card has no version field of its own, but a card that names 1.0 counts as one.
  const saysModern = typeof version === 'string' && version.startsWith('1.');
  const isOlder =
    (version !== undefined && !saysModern) || card['preferredTransport'] !== undefined;
  const isModern =
    saysModern ||
    card['supportedInterfaces'] !== undefined ||
    card['securityRequirements'] !== undefined;
  if (isOlder && isModern) return 'hybrid';
  if (isModern) return '1.0';
  return isOlder || card['url'] !== undefined ? '0.3' : 'unknown';
}

/** Checks a card against A2A 0.3.0 and 1.0, as far as it claims to follow them. Returns at most 200 findings. */
export function checkCard(card: JsonValue): CardFinding[] {
  if (!isJsonObject(card)) return [error('', 'is no JSON object')];
  const form = cardForm(card);
  const found = [...checkCommon(card)];
  if (form !== '1.0') found.push(...checkOlder(card));
  if (form === '1.0' || form === 'hybrid') found.push(...checkModern(card));
  return found.slice(0, most);
}

/** Lists the security schemes of a card in either format. */
export function schemesOf(card: JsonValue): CardScheme[] {
  const schemes = isJsonObject(card) ? card['securitySchemes'] : undefined;
  if (!isJsonObject(schemes)) return [];
  return Object.entries(schemes).map(([key, scheme]) => ({ key, says: wordsOf(scheme) }));
}

function* checkCommon(card: JsonObject): Generator<CardFinding, void, void> {
  for (const key of ['name', 'version']) yield* needText(card, key);
  if (typeof card['description'] !== 'string' || card['description'] === '') {
    yield warning('description', 'is missing; A2A asks for it');
  }
  for (const key of ['defaultInputModes', 'defaultOutputModes']) yield* needTexts(card, key, key);
  if (!isJsonObject(card['capabilities'])) yield error('capabilities', 'must be an object');
  else {
    for (const [key, value] of Object.entries(card['capabilities'])) {
      if (key !== 'extensions' && typeof value !== 'boolean') {
        yield error(`capabilities.${key}`, 'must be true or false');
      }
    }
  }
  yield* checkSkills(card['skills']);
}

function* checkSkills(skills: JsonValue | undefined): Generator<CardFinding, void, void> {
  if (!Array.isArray(skills)) return yield error('skills', 'must be a list');
  const known = new Set<JsonValue>();
  for (const [index, skill] of skills.entries()) {
    const path = `skills[${index}]`;
    if (!isJsonObject(skill)) {
      yield error(path, 'must be an object');
      continue;
    }
    for (const key of ['id', 'name', 'description']) yield* needText(skill, key, `${path}.`);
    yield* needTexts(skill, 'tags', `${path}.tags`);
    const id = skill['id'] ?? null;
    if (known.has(id)) yield error(`${path}.id`, 'is the id of another skill too');
    known.add(id);
  }
}

function* checkOlder(card: JsonObject): Generator<CardFinding, void, void> {
  yield* checkUrl(card['url'], 'url');
  const version = card['protocolVersion'];
  if (typeof version !== 'string' || !/^0\.\d+(\.\d+)?$/.test(version)) {
    yield error('protocolVersion', 'must be the version of 0.3, such as 0.3.0');
  }
  const preferred = card['preferredTransport'];
  if (preferred !== undefined && !transports.has(preferred)) {
    yield error('preferredTransport', 'must be JSONRPC, GRPC or HTTP+JSON');
  }
  yield* checkInterfaces(card, 'additionalInterfaces', 'transport');
  const schemes = card['securitySchemes'];
  if (schemes !== undefined && !isJsonObject(schemes)) {
    yield error('securitySchemes', 'must be an object');
  }
  for (const [key, scheme] of Object.entries(isJsonObject(schemes) ? schemes : {})) {
    if (!isJsonObject(scheme) || !olderSchemes.has(scheme['type'] ?? null)) {
      const names = olderNames.join(', ');
      yield error(`securitySchemes.${key}.type`, `must be one of ${names}`);
    }
  }
  const security = card['security'];
  if (security === undefined) return;
  if (!Array.isArray(security)) return yield error('security', 'must be a list');
  for (const [index, one] of security.entries()) {
    yield* checkNames(isJsonObject(one) ? one : {}, schemes, `security[${index}]`);
  }
}

function* checkModern(card: JsonObject): Generator<CardFinding, void, void> {
  const interfaces = card['supportedInterfaces'];
  const listed = Array.isArray(interfaces) ? interfaces : [];
  if (listed.length === 0) {
    yield error('supportedInterfaces', 'must name at least one interface');
  }
  yield* checkInterfaces(card, 'supportedInterfaces', 'protocolBinding');
  for (const [index, one] of listed.entries()) {
    if (isJsonObject(one) && typeof one['protocolVersion'] !== 'string') {
      const path = `supportedInterfaces[${index}].protocolVersion`;
      yield error(path, 'must be a version, such as 1.0');
    }
  }
  const requirements = card['securityRequirements'];
  if (requirements === undefined) return;
  if (!Array.isArray(requirements)) return yield error('securityRequirements', 'must be a list');
  for (const [index, one] of requirements.entries()) {
    const path = `securityRequirements[${index}]`;
    const { schemes: named = {}, ...others } = isJsonObject(one) ? one : { schemes: null };
    if (isJsonObject(named) && Object.keys(others).length === 0) {
      yield* checkNames(named, card['securitySchemes'], `${path}.schemes`);
    } else yield error(path, 'must have schemes, such as {"schemes": {"bearer": {"list": []}}}');
  }
}

function* checkInterfaces(
  card: JsonObject,
  key: string,
  kind: string,
): Generator<CardFinding, void, void> {
  const interfaces = card[key];
  if (interfaces === undefined) return;
  if (!Array.isArray(interfaces)) return yield error(key, 'must be a list');
  for (const [index, one] of interfaces.entries()) {
    const path = `${key}[${index}]`;
    if (!isJsonObject(one)) yield error(path, 'must be an object');
    else {
      yield* checkUrl(one['url'], `${path}.url`);
      yield* needText(one, kind, `${path}.`);
    }
  }
}

function* checkUrl(value: JsonValue | undefined, path: string): Generator<CardFinding, void, void> {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return yield error(path, 'must be an http or https URL');
  }
  if (url.username !== '' || url.password !== '') yield error(path, 'must hold no password');
  if (url.protocol === 'http:' && !isLoopbackUrl(url)) {
    yield warning(path, 'is not https, so what is sent there can be read on the way');
  }
}

function* checkNames(
  named: JsonObject,
  schemes: JsonValue | undefined,
  path: string,
): Generator<CardFinding, void, void> {
  for (const key of Object.keys(named)) {
    if (!isJsonObject(schemes) || !Object.hasOwn(schemes, key)) {
      yield error(path, `names ${key}, which is none of the securitySchemes`);
    }
  }
}

function* needText(of: JsonObject, key: string, before = ''): Generator<CardFinding, void, void> {
  if (typeof of[key] !== 'string' || of[key] === '') yield error(before + key, 'must be a string');
}

function* needTexts(of: JsonObject, key: string, path: string): Generator<CardFinding, void, void> {
  const value = of[key];
  const isGood = Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (!isGood) yield error(path, 'must be a list of texts');
  else if (value.length === 0) yield warning(path, 'is empty');
}

const transports: ReadonlySet<JsonValue> = new Set(['JSONRPC', 'GRPC', 'HTTP+JSON']);

const olderNames = ['http', 'apiKey', 'oauth2', 'openIdConnect', 'mutualTLS'];

const olderSchemes: ReadonlySet<JsonValue> = new Set(olderNames);

const details = new Map([
  ['http', 'scheme'],
  ['apiKey', 'name'],
  ['openIdConnect', 'openIdConnectUrl'],
]);

function wordsOf(scheme: JsonValue): string {
  if (!isJsonObject(scheme)) return 'unknown';
  const { type } = scheme;
  if (typeof type !== 'string') {
    const [name] = Object.keys(scheme);
    return name?.replace(/SecurityScheme$/, '') ?? 'unknown';
  }
  const key = details.get(type);
  const detail = key === undefined ? undefined : scheme[key];
  return typeof detail === 'string' ? `${type} ${detail}` : type;
}

function error(path: string, message: string): CardFinding {
  return { severity: 'error', path, message };
}

function warning(path: string, message: string): CardFinding {
  return { severity: 'warning', path, message };
}
