import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';

/** The locations of a push notification config in the params of a 0.3.0 call; REST uses different names. */
const holders = [
  'configuration',
  'pushNotification',
  'push_notification',
  'pushNotificationConfig',
  'push_notification_config',
];

/**
 * Converts the params of a 0.3.0 call for the SDK. If `isWaiting`, a configuration that does not specify waiting
 * defaults to waiting (docs/contract/a2a.md). Keeps only the first scheme of a push notification config, because 1.0
 * supports one. The SDK would do the same, but it prints the dropped schemes.
 */
export function compatParams(sent: unknown, isWaiting: boolean): unknown {
  if (!isJsonObject(sent)) return sent;
  const params = withFirstScheme(sent);
  const { configuration } = params;
  if (!isWaiting || !isJsonObject(configuration) || 'blocking' in configuration) return params;
  return { ...params, configuration: { ...configuration, blocking: true } };
}

function withFirstScheme(sent: JsonObject): JsonObject {
  const inner = holders.flatMap((name): [string, JsonValue][] => {
    const held = Object.hasOwn(sent, name) ? sent[name] : undefined;
    return isJsonObject(held) ? [[name, withFirstScheme(held)]] : [];
  });
  const { authentication } = sent;
  const schemes = isJsonObject(authentication) ? authentication['schemes'] : undefined;
  const isLong = isJsonObject(authentication) && Array.isArray(schemes) && schemes.length > 1;
  const first: JsonObject = isLong
    ? { authentication: { ...authentication, schemes: schemes.slice(0, 1) } }
    : {};
  return { ...sent, ...Object.fromEntries(inner), ...first };
}
