import { type Dispatcher, request } from 'undici';
import { type AdmissionAnswer, readAnswer } from '../../../machines/admission/admission-answer.ts';
import { collectBytes, strictText } from '../../collect-bytes.ts';
import type { Outbound } from '../../ports/egress.ts';
import { inClientSpan } from '../../telemetry/telemetry.ts';
import type { AdmissionSettings } from './admission-settings.ts';

export interface PlatformReply {
  answer: AdmissionAnswer;
  /** The platform's `Date` header. */
  date: string | null;
}

/** The platform gave no valid answer. The message states the reason and contains nothing of the request. */
export class AdmissionError extends Error {
  readonly code = 'admission_call_failed';
}

/** Total timeout of one call, from start to last byte, in milliseconds (docs/contract/admission.md). */
const deadline = 2_000;

const largest = 64 * 1024;

/**
 * Asks the platform whether new invocations of an agent may start (docs/contract/admission.md). Sends one request
 * without redirects, limited to two seconds and 64 KiB, through `outbound` or directly. Rejects with an AdmissionError
 * when there is no valid answer.
 */
export function askPlatform(
  settings: AdmissionSettings,
  agentId: string,
  signal: AbortSignal,
  outbound?: Outbound,
): Promise<PlatformReply> {
  const url = urlOf(settings.url, agentId);
  return inClientSpan({ method: 'GET', url }, async () => {
    const late = AbortSignal.timeout(deadline);
    const over = new AbortController();
    try {
      const stop = AbortSignal.any([signal, late, over.signal]);
      return await fetchReply(url, {
        headers: headersOf(settings),
        signal: stop,
        ...(outbound === undefined ? {} : { dispatcher: outbound.dispatcher }),
      });
    } catch (error) {
      if (late.aborted) throw new AdmissionError('the platform did not answer in 2 s');
      if (signal.aborted) throw new AdmissionError('the call was called off');
      throw admissionFault(error);
    } finally {
      // Aborts without waiting for the rest of the response.
      over.abort();
    }
  });
}

async function fetchReply(
  url: URL,
  options: { headers: Record<string, string>; signal: AbortSignal; dispatcher?: Dispatcher },
): Promise<PlatformReply> {
  // No keep-alive: a connection that the platform closes at the wrong moment would turn a denial into an admit.
  const { statusCode, headers: sent, body } = await request(url, { ...options, reset: true });
  if (statusCode !== 200) {
    throw new AdmissionError(`the platform answered ${statusCode}; it must answer 200`);
  }
  const reading = readAnswer(await readText(body));
  if (reading.kind === 'fault') throw new AdmissionError(reading.text);
  return { answer: reading.answer, date: typeof sent['date'] === 'string' ? sent['date'] : null };
}

async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const tooLong = () => new AdmissionError('the platform answered more than 64 KiB');
  const text = strictText(await collectBytes(body, largest, tooLong));
  if (text === null) throw new AdmissionError('the answer is not UTF-8');
  return text;
}

/** Adds the agent id to the query of the configured URL; the rest of the URL is unchanged. */
function urlOf(configured: string, agentId: string): URL {
  const url = new URL(configured);
  if (url.searchParams.has('agent_id')) url.searchParams.delete('agent_id');
  const query = `agent_id=${encodeURIComponent(agentId)}`;
  url.search = url.search === '' ? query : `${url.search}&${query}`;
  return url;
}

function headersOf({ token, orgId, workspaceId }: AdmissionSettings): Record<string, string> {
  return {
    Accept: 'application/json',
    Authorization: `Bearer ${token}`,
    ...(orgId === '' ? {} : { 'Org-Id': orgId }),
    ...(workspaceId === '' ? {} : { 'Workspace-Id': workspaceId }),
  };
}

/** Describes a failed call without its cause, which may hold data that must not be logged. */
function admissionFault(error: unknown): AdmissionError {
  if (error instanceof AdmissionError) return error;
  const { code, name } = error as NodeJS.ErrnoException;
  return new AdmissionError(`the platform cannot be reached (${code ?? name})`);
}
