import { request } from 'undici';
import { plainLine } from '../plain-text.ts';
import type { Finding } from './check.ts';

/** Timeout in milliseconds for a host's response. */
const patience = 5_000;

/** A target whose host does not respond. */
interface Unreachable {
  name: string;
  host: string;
  reason: string;
}

/**
 * Checks that the host of every target responds. Posts nothing and requests no path, because the path may be secret.
 */
export async function checkWebhook(
  targets: Readonly<Record<string, { url: string }>>,
  fix: string,
): Promise<Finding> {
  const probes = await Promise.all(Object.entries(targets).map(probe));
  const [first, ...others] = probes.filter((found) => found !== null);
  if (first === undefined) {
    return { status: 'pass', message: plainLine(`posts to ${Object.keys(targets).join(', ')}`) };
  }
  const { name, host, reason } = first;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return {
    status: 'fail',
    message: plainLine(`${host}, the host of the target ${name}, is not reached: ${reason}${more}`),
    fix,
  };
}

async function probe([name, { url }]: [string, { url: string }]): Promise<Unreachable | null> {
  const { origin, host } = new URL(url);
  try {
    const signal = AbortSignal.timeout(patience);
    const { body } = await request(origin, { method: 'HEAD', signal });
    await body.dump();
    return null;
  } catch (error) {
    const { code, name: kind } = error as NodeJS.ErrnoException;
    const reason = kind === 'TimeoutError' ? 'it does not answer' : String(code ?? kind);
    return { name, host, reason };
  }
}
