import { onTestFinished } from 'vitest';
import type { EgressOptions } from '../../../../src/actors/outbound/egress/egress.ts';
import {
  type EgressProxy,
  type ProxyLimits,
  type ProxyPass,
  startEgressProxy,
} from '../../../../src/actors/outbound/proxy/egress-proxy.ts';
import type { EgressRecord } from '../../../../src/actors/ports/egress.ts';
import type { Log } from '../../../../src/actors/ports/log.ts';
import { anEgress, scope } from '../egress/an-egress.ts';

/**
 * A proxy over a policy that lists `*.example.test`, for tunnels to these ports as well; its names are all 127.0.0.1.
 * Closed after the test.
 */
export async function aProxy(
  options: Partial<EgressOptions> & {
    proxyLimits?: Partial<ProxyLimits>;
    tunnelPorts?: number[];
  } = {},
): Promise<{
  proxy: EgressProxy;
  records: EgressRecord[];
  /** A pass of the task `scope`, and its `Proxy-Authorization` header. */
  pass: ProxyPass;
  authorization: string;
  /** Everything that was logged, as text. */
  logged: string[];
}> {
  const { proxyLimits = {}, tunnelPorts = [], ...rest } = options;
  const logged: string[] = [];
  const write = (fields: object, message: string) =>
    void logged.push(`${JSON.stringify(fields)} ${message}`);
  const log: Log = { info: write, warn: write, error: write };
  const ported = tunnelPorts.map((port) => `*.example.test:${port}`);
  const { egress, records } = anEgress({ allowedDomains: ['*.example.test', ...ported], ...rest });
  const proxy = await startEgressProxy({ egress, log, limits: proxyLimits });
  onTestFinished(() => proxy.close());
  const pass = proxy.admit(scope);
  return { proxy, records, pass, authorization: authorizationOf(pass), logged };
}

/** The header line a client makes of the proxy's address. */
export function authorizationOf(pass: ProxyPass): string {
  const { username, password } = new URL(pass.env['HTTP_PROXY'] ?? '');
  return `Proxy-Authorization: Basic ${btoa(`${username}:${password}`)}`;
}
