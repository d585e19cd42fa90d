import { collectBytes } from '../../actors/collect-bytes.ts';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { createEgress } from '../../actors/outbound/outbound.ts';
import type { EgressRecord } from '../../actors/ports/egress.ts';
import { nearbyPorts } from '../../actors/process/process.ts';
import { messageOf } from '../../machines/message-of.ts';

export interface FetchOptions {
  /** The agent's folder and its configuration, whose egress rules apply. */
  directory: string;
  config: Pick<ServiceConfig, 'egress'>;
  /** The setting or command that names the URL. */
  source: string;
  /** Maximum bytes, and milliseconds. */
  longest: number;
  patience: number;
  record: (hop: EgressRecord) => void;
}

/**
 * Fetches a file that the operator names, under the egress rules of the agent and without following redirects. Rejects
 * with an Error whose message continues a sentence about the file.
 */
export async function fetchFile(url: URL, options: FetchOptions): Promise<Buffer> {
  const { mode, allowed_domains, allowed_private, allow_private_ips, allowed_private_cidrs } =
    options.config.egress;
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  const egress = createEgress({
    mode,
    allowedDomains: allowed_domains,
    allowedPrivate: allowed_private,
    allowPrivateIps: allow_private_ips,
    allowedPrivateCidrs: allowed_private_cidrs,
    neighbours: nearbyPorts(options.directory),
    propagateTo: [],
    endpoints: [{ host: url.hostname, port, source: options.source }],
    record: options.record,
  });
  try {
    const signal = AbortSignal.timeout(options.patience);
    const response = await egress.fetch(url, { redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`it answered ${response.status}; it must answer 200`);
    }
    const tooLong = () => new Error(`it is larger than ${Math.floor(options.longest / 1024)} KiB`);
    return Buffer.from(await collectBytes(response.body, options.longest, tooLong));
  } catch (error) {
    // The fetch itself only says that it failed.
    const { cause } = error as Error;
    throw cause instanceof Error ? new Error(messageOf(cause), { cause }) : error;
  } finally {
    await egress.close();
  }
}
