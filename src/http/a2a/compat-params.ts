import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';

/** The places of a push notification config in the params of a 0.3.0 call; REST has names of its own. */
const holders = [
  'configuration',
  'pushNotification',
  'push_notification',
  'pushNotificationConfig',
  'push_notification_config',
];

/**
 * Prepares what a call of 0.3.0 brings for the SDK. Where `isWaiting`, a configuration that says nothing of waiting
 * wants to wait (docs/contract/a2a.md). Of the schemes of a push notification config the first stays, which is all that
 * 1.0 knows; the SDK does the same, and prints what it leaves out.
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
