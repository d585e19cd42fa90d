import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import * as z from 'zod';
import type { Clock } from '../../../ports/clock.ts';
import type { WebRecords } from '../../../ports/web-records.ts';
import { ServerFault } from '../server-fault.ts';

const tokens = z.object({
  /** The issuer of the tokens; another issuer never receives them. */
  issuer: z.string(),
  clientId: z.string(),
  /** The resource of the tokens; another server never receives them. */
  resource: z.string(),
  /** Of a client that was registered at the sign-in; absent for the configured one and for a public client. */
  clientSecret: z.string().optional(),
  access: z.string(),
  refresh: z.string().optional(),
  /** Epoch milliseconds from which the access token is renewed; `null` if it has no end. */
  renewAt: z.number().nullable(),
});

/** Tokens of the agent for one server. */
export type ServerTokens = z.output<typeof tokens>;

export interface VaultPorts {
  records: Pick<WebRecords, 'put' | 'change' | 'find' | 'take'>;
  /** Returns the key of a purpose, which all daemons over the store share. */
  key: (purpose: string) => Promise<Buffer>;
  clock: Clock;
  /** Returns a name that no other daemon has. */
  owner: string;
}

const encryption = { alg: 'dir', enc: 'A256GCM' } as const;

const owner = 'agent';

/** Time for which a daemon has the right to renew tokens, and pauses between two attempts to get it, in milliseconds. */
const lease = { time: 60_000, pause: 100 };

/**
 * The tokens of the agent for its servers, encrypted in the store and shared by all daemons over it. One daemon at a
 * time renews the tokens of a server, since many issuers accept a refresh token once. A failure of the store is a
 * ServerFault.
 */
export class TokenVault {
  readonly #ports: VaultPorts;

  constructor(ports: VaultPorts) {
    this.#ports = ports;
  }

  /** Returns the tokens for a server; `null` if there are none, or if the key of the store has changed. */
  async read(server: string): Promise<ServerTokens | null> {
    const found = await stored(() => this.#ports.records.find('mcp_token', server));
    if (found === undefined) return null;
    try {
      const { payload } = await jwtDecrypt(found.value['sealed'] as string, await this.#key(), {
        subject: server,
        keyManagementAlgorithms: [encryption.alg],
        contentEncryptionAlgorithms: [encryption.enc],
      });
      return tokens.parse(payload['tokens']);
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  async write(server: string, given: ServerTokens): Promise<void> {
    const sealed = await new EncryptJWT({ tokens: given })
      .setProtectedHeader(encryption)
      .setSubject(server)
      .encrypt(await this.#key());
    const record = { kind: 'mcp_token', id: server, owner, expiresAt: null } as const;
    const { records, clock } = this.#ports;
    await stored(() => records.put({ ...record, value: { sealed } }, clock.now()));
  }

  /** Deletes the tokens for a server, and returns whether there were any. */
  async forget(server: string): Promise<boolean> {
    return (await stored(() => this.#ports.records.take('mcp_token', server))) !== undefined;
  }

  /** Runs a renewal while no other daemon renews the tokens of the server. */
  async exclusively<Result>(server: string, run: () => Promise<Result>): Promise<Result> {
    const { records, clock, owner: self } = this.#ports;
    const right = { kind: 'mcp_lease', id: server, owner: self, value: {} } as const;
    const take = () => {
      const now = clock.now();
      return stored(() => records.put({ ...right, expiresAt: now + lease.time }, now));
    };
    while (!(await take())) {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, lease.pause));
    }
    try {
      return await run();
    } finally {
      // Ends only the lease of this daemon.
      await records.change({ ...right, expiresAt: 0 }).catch(() => undefined);
    }
  }

  async #key(): Promise<Uint8Array> {
    return new Uint8Array(await stored(() => this.#ports.key('mcp tokens')));
  }
}

async function stored<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (cause) {
    throw new ServerFault('has tokens in a store that does not work now', {
      isUnsent: true,
      cause,
    });
  }
}
