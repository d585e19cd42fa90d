import { patientLimits } from '../../../outbound/outbound.ts';
import type { EgressScope } from '../../../ports/egress.ts';
import type { McpServersParts } from '../mcp-servers.ts';
import type { McpServerSettings } from '../server-settings.ts';
import { ServerAuth } from './server-auth.ts';
import { TokenVault } from './token-vault.ts';

/** Requests to issuers are the daemon's own, also while a call waits for a token. */
const own: EgressScope = { taskId: null, correlationId: null, tags: {}, isOwn: true };

/** Returns a function that creates the access to a server by OAuth; `null` for a server without it. */
export function openServerAuth({
  servers,
  tokens,
  egress,
  clock,
}: Pick<McpServersParts, 'servers' | 'tokens' | 'egress' | 'clock'>) {
  const vault = tokens === undefined ? null : new TokenVault({ ...tokens, clock });
  const fetchIt: typeof globalThis.fetch = (input, init) =>
    egress.within(own, () => egress.fetch(input, init), patientLimits);
  const { discovered } = egress;
  const outbound = { fetch: fetchIt, ...(discovered === undefined ? {} : { discovered }) };
  return (server: McpServerSettings): ServerAuth | null => {
    const { name, url, auth } = server;
    if (auth === undefined || url === undefined || vault === null) return null;
    const setting = `mcp.servers.${servers.indexOf(server)}.auth`;
    return new ServerAuth({ name, url, auth, setting }, { outbound, vault, clock });
  };
}
