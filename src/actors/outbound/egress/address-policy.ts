import type { CheckAddress } from './address-rules.ts';

/** Which addresses may be dialled on behalf of the daemon itself, or on behalf of tasks. */
export interface AddressPolicy {
  checkAddress: CheckAddress;
  /** True when an operator named the host and port for them, whatever their address. */
  mayBePrivate: (host: string, port: number) => boolean;
  /**
   * Returns why nobody may ask there in any mode, such as for the daemon's own listeners; `null` for other places. `from`
   * is where an open connection begins.
   */
  closedAt: (address: string, port: number, from?: string) => string | null;
}

/** A host and port, and one of its addresses; `how` is `is` when the host is that address. */
export interface AddressOfHost {
  host: string;
  port: number;
  address: string;
  how: 'is' | 'resolves to';
}

/** Returns why an address of a host may not be dialled, in words that follow the host's name; `null` when it may. */
export function addressFault(
  { host, port, address, how }: AddressOfHost,
  { checkAddress, mayBePrivate, closedAt }: AddressPolicy,
): string | null {
  const closed = closedAt(address, port);
  if (closed !== null) return closed;
  const fault = checkAddress(address, mayBePrivate(host, port));
  return fault === null ? null : `${how} ${fault}`;
}
